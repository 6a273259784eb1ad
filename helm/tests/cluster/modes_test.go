//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// service creates a Service with a given address, because the node has no DNS.
func service(t *testing.T, space, name, address string, ports ...int32) {
	t.Helper()
	made := &core.Service{ObjectMeta: meta.ObjectMeta{Name: name}, Spec: core.ServiceSpec{ClusterIP: address, Selector: map[string]string{"app": name}, PublishNotReadyAddresses: true}}
	for _, port := range ports {
		made.Spec.Ports = append(made.Spec.Ports, core.ServicePort{Name: fmt.Sprintf("port-%d", port), Port: port})
	}
	eventually(t, "the address of "+name+" to be free", func(ctx context.Context) error { // an earlier test's namespace may still have it
		_, err := cluster.CoreV1().Services(space).Create(ctx, made, meta.CreateOptions{})
		return err
	})
}

// addressOf returns the address of a release's Service.
func addressOf(t *testing.T, space, name string) string {
	t.Helper()
	found, err := cluster.CoreV1().Services(space).Get(t.Context(), name, meta.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	address := net.JoinHostPort(found.Spec.ClusterIP, "80")
	eventually(t, "the Service to lead to a pod", func(ctx context.Context) error {
		var dialer net.Dialer
		connection, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			connection.Close()
		}
		return err
	})
	return address
}

// TestLibrary installs another chart that includes the sidecar, and drains its pod.
func TestLibrary(t *testing.T) {
	needsNode(t)
	const space = "library"
	namespace(t, space)
	folder := filepath.Join(t.TempDir(), "parent")
	if err := errors.Join(os.CopyFS(folder, os.DirFS("../testdata/parent")), os.CopyFS(filepath.Join(folder, "charts", "delegraph"), os.DirFS(chart))); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "templates", "deployment.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, container, _ := strings.Cut(templateOf("my-agent", "serve", "", ""), "    - name: agent\n")
	before, rest, _ := strings.Cut(string(text), "          image: ")
	_, after, found := strings.Cut(rest, "          readinessProbe:")
	if !found {
		t.Fatalf("the chart has another agent: %s", text)
	}
	agent := "    " + strings.TrimSuffix(strings.ReplaceAll(container, "\n", "\n    "), "    ")
	if err := os.WriteFile(file, []byte(before+agent+"          readinessProbe:"+after), 0o644); err != nil {
		t.Fatal(err)
	}
	readers := &core.Secret{ObjectMeta: meta.ObjectMeta{Name: "stream-readers"}, StringData: map[string]string{"tokens": "0123456789abcdefghijklmnopqrstuv"}}
	if _, err := cluster.CoreV1().Secrets(space).Create(t.Context(), readers, meta.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	helm(t, space, "demo", folder, "watch:\n  "+imageValues)
	pod := ready(t, space, "my-agent", "")
	sidecarOf(t, pod)
	client := halfway(t, pod)
	if err := cluster.CoreV1().Pods(space).Delete(t.Context(), pod.Name, meta.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	finish(t, pod, client)
}

const standaloneValues = imageValues + `
config: {sources: [{name: SOURCE, proxy: {listen: ":8080", upstream: "http://10.96.0.31:8000"}}]}
standalone: {podLabels: {app: watch}}
`

// TestStandalone reads an agent through the release's Service, and changes the configuration in the middle of a stream.
func TestStandalone(t *testing.T) {
	needsNode(t)
	const space = "standalone"
	namespace(t, space)
	deployment := object[apps.Deployment](t, "spec:\n  selector: {matchLabels: {app: agent}}\n  template:\n"+indent(strings.Replace(templateOf("agent", "serve, ':8000'", "", ""), `, delegraph.dev/inject: "true"`, "", 1)))
	deployment.Name = "agent"
	if _, err := cluster.AppsV1().Deployments(space).Create(t.Context(), deployment, meta.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	service(t, space, "agent", "10.96.0.31", 8000)
	agent := ready(t, space, "agent", "")
	helm(t, space, "watch", chart, strings.ReplaceAll(standaloneValues, "SOURCE", "before"))
	old := ready(t, space, "watch", "")
	front := addressOf(t, space, "watch-delegraph")
	order(t, agent, "/say", callFrame)
	client := open(t, front)
	client.frame()
	helm(t, space, "watch", chart, strings.ReplaceAll(standaloneValues, "SOURCE", "after"))
	fresh := ready(t, space, "watch", old.Name)
	eventually(t, "the old pod to be stopped", func(ctx context.Context) error {
		now, err := cluster.CoreV1().Pods(space).Get(ctx, old.Name, meta.GetOptions{})
		if err == nil && now.DeletionTimestamp == nil {
			err = errors.New("it is not")
		}
		return err
	})
	order(t, agent, "/say", responseFrame+finalFrame)
	client.frame()
	client.frame()
	order(t, agent, "/over", "")
	if got, err := client.rest(); err != nil || got != wholeRun {
		t.Errorf("the client of the replaced pod got %q, %v", got, err)
	}
	order(t, agent, "/say", wholeRun)
	another := open(t, fresh.Status.PodIP+":8080")
	another.frame()
	order(t, agent, "/over", "")
	if runs := metrics(t, fresh, "delegraph_runs_started_total"); !slices.Equal(runs, []string{`delegraph_runs_started_total{source="after"} 1`}) {
		t.Errorf("metrics of the new pod: %q", runs)
	}
	t.Log("helm upgrade replaced the pod, and the client of the old one got all of its stream")
}
