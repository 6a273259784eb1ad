package tests

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/version"
)

// apiServer answers what helm asks a cluster for: its version, the APIs that it has, and one Deployment.
type apiServer struct {
	deployment *apps.Deployment // nil if there is none
}

func (a apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	answers := map[string]any{
		"/version": version.Info{Major: "1", Minor: "36", GitVersion: "v1.36.3"},
		"/api":     meta.APIVersions{TypeMeta: meta.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}},
	}
	groups := meta.APIGroupList{TypeMeta: meta.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
	for path, kinds := range map[string][]string{
		"/api/v1": {"ConfigMap", "Service"}, "/apis/apps/v1": {"Deployment"}, "/apis/policy/v1": {"PodDisruptionBudget"}, "/apis/autoscaling/v2": {"HorizontalPodAutoscaler"},
	} {
		list := meta.APIResourceList{TypeMeta: meta.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: "v1"}
		if name, named := strings.CutPrefix(path, "/apis/"); named {
			group, number, _ := strings.Cut(name, "/")
			version := meta.GroupVersionForDiscovery{GroupVersion: name, Version: number}
			groups.Groups = append(groups.Groups, meta.APIGroup{Name: group, Versions: []meta.GroupVersionForDiscovery{version}, PreferredVersion: version})
			list.GroupVersion = name
		}
		for _, kind := range kinds {
			list.APIResources = append(list.APIResources, meta.APIResource{Name: strings.ToLower(kind) + "s", SingularName: strings.ToLower(kind), Namespaced: true, Kind: kind, Verbs: meta.Verbs{"get", "list"}})
		}
		answers[path] = list
	}
	answers["/apis"] = groups
	if a.deployment != nil {
		answers["/apis/apps/v1/namespaces/agents/deployments/"+a.deployment.Name] = a.deployment
	}
	w.Header().Set("Content-Type", "application/json")
	answer, ok := answers[r.URL.Path]
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		answer = meta.Status{TypeMeta: meta.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: meta.StatusFailure, Reason: meta.StatusReasonNotFound, Code: http.StatusNotFound}
	}
	_ = json.NewEncoder(w).Encode(answer) // the client may be gone
}

// renderFor renders the chart for a cluster.
func renderFor(t *testing.T, cluster apiServer, args ...string) (out, problems string, err error) {
	t.Helper()
	server := httptest.NewServer(cluster)
	defer server.Close()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	write(t, file, fmt.Sprintf(`{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: %q}}], contexts: [{name: c, context: {cluster: c, user: u}}], users: [{name: u, user: {}}], current-context: c}`, server.URL))
	return run(t, tool(t, "helm"), append([]string{"template", "demo", chart, "--namespace", "agents", "--dry-run=server", "--is-upgrade", "--disable-openapi-validation", "--kubeconfig", file}, args...)...)
}

// TestAutoscalingKeepsReplicas checks that turning autoscaling on keeps the number of pods that run, and that a first installation
// leaves it to the cluster.
func TestAutoscalingKeepsReplicas(t *testing.T) {
	six := int32(6)
	running := &apps.Deployment{TypeMeta: meta.TypeMeta{Kind: "Deployment", APIVersion: "apps/v1"}, ObjectMeta: meta.ObjectMeta{Name: "demo-delegraph", Namespace: "agents"}, Spec: apps.DeploymentSpec{Replicas: &six}}
	for name, c := range map[string]struct {
		deployment *apps.Deployment
		want       *int32
	}{"upgrade": {running, &six}, "first installation": {nil, nil}} {
		t.Run(name, func(t *testing.T) {
			out, problems, err := renderFor(t, apiServer{c.deployment}, "--values", valuesFiles(t)["gateway"], "--set", "gateway.autoscaling.enabled=true,podMonitor.enabled=false")
			if err != nil {
				t.Fatalf("%v: %s", err, problems)
			}
			var got apps.Deployment
			strictly(t, only(t, out, "Deployment"), &got)
			if (got.Spec.Replicas == nil) != (c.want == nil) || c.want != nil && *got.Spec.Replicas != *c.want {
				t.Errorf("replicas is %v, want %v", got.Spec.Replicas, c.want)
			}
		})
	}
}

// TestClusterWithoutOperator checks that monitoring objects are refused with a sentence if the cluster does not have their APIs.
func TestClusterWithoutOperator(t *testing.T) {
	for _, value := range []string{"podMonitor", "serviceMonitor", "prometheusRule"} {
		t.Run(value, func(t *testing.T) {
			_, problems, err := renderFor(t, apiServer{}, "--values", valuesFiles(t)["standalone"], "--set", value+".enabled=true")
			if want := value + ".enabled: this cluster does not have the API monitoring.coreos.com/v1/"; err == nil || !strings.Contains(problems, want) {
				t.Errorf("refused with %v, %s; want %q", err, problems, want)
			}
		})
	}
}
