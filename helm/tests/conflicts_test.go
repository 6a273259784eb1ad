package tests

import (
	"slices"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const notInjected = "delegraph.dev/not-injected"

// labeled returns a pod of the namespace fire with the label for the sidecar, further metadata, and a spec.
func labeled(t *testing.T, metadata, spec string) *core.Pod {
	t.Helper()
	var pod core.Pod
	if metadata != "" {
		metadata = ", " + metadata
	}
	strictly(t, "metadata: {name: a, namespace: fire"+metadata+"}\nspec: "+spec, &pod)
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels["delegraph.dev/inject"] = "true"
	return &pod
}

const agentAlone = "{containers: [{name: agent, image: agent}]}"

// conflicts are specs of pods with part of the message about each; "" if the sidecar is injected.
var conflicts = map[string]struct{ spec, want string }{
	"port":                     {"{containers: [{name: agent, image: agent, ports: [{containerPort: 8080}]}]}", "container agent: port 8080 belongs to the sidecar: let it use another port, such as 127.0.0.1:8000 for the agent"},
	"port of a second agent":   {"{containers: [{name: agent, image: agent, ports: [{containerPort: 8000}]}, {name: other, image: other, ports: [{containerPort: 9000}, {containerPort: 8080, protocol: TCP}]}]}", "container other: port 8080 belongs to the sidecar"},
	"admin port":               {"{containers: [{name: agent, image: agent, ports: [{containerPort: 10477}]}]}", "container agent: port 10477 belongs"},
	"port of the stream":       {"{containers: [{name: agent, image: agent, ports: [{containerPort: 10478}]}]}", "container agent: port 10478 belongs"},
	"port of another protocol": {"{containers: [{name: agent, image: agent, ports: [{containerPort: 8080, protocol: UDP}]}]}", ""},
	"agent's own port":         {"{containers: [{name: agent, image: agent, ports: [{name: agent, containerPort: 8000}]}]}", ""},
	"port of a native sidecar": {"{initContainers: [{name: mesh, image: mesh, restartPolicy: Always, ports: [{containerPort: 8080}]}], containers: [{name: agent, image: agent}]}", "container mesh: port 8080 belongs"},
	"init container that ends": {"{initContainers: [{name: first, image: first, ports: [{name: http, containerPort: 8080}]}], containers: [{name: agent, image: agent}]}", ""},
	"port name":                {"{containers: [{name: agent, image: agent, ports: [{name: http, containerPort: 8000}]}]}", "container agent: a port is named http like a port of the sidecar, so a Service that targets this name would bypass the filter: rename or remove the port"},
	"port name of metrics":     {"{containers: [{name: agent, image: agent, ports: [{name: delegraph-admin, containerPort: 9090}]}]}", "a port is named delegraph-admin like"},
	"name of a sidecar's port": {"{initContainers: [{name: mesh, image: mesh, restartPolicy: Always, ports: [{name: http, containerPort: 15000}]}], containers: [{name: agent, image: agent}]}", "container mesh: a port is named http"},
	"two conflicts":            {"{containers: [{name: agent, image: agent, ports: [{name: http, containerPort: 8080}]}]}", "for the agent; container agent: a port is named http"},
	"network of the node":      {"{hostNetwork: true, containers: [{name: agent, image: agent}]}", "spec.hostNetwork: the sidecar would take ports of the node (8080, 10477, 10478): remove hostNetwork"},
	"host port of the agent":   {"{containers: [{name: agent, image: agent, ports: [{containerPort: 8000, hostPort: 80}]}]}", "container agent: hostPort opens the agent's own port, which bypasses the filter: remove hostPort"},
	"host port of its metrics": {"{containers: [{name: agent, image: agent, ports: [{containerPort: 9090, hostPort: 8080}]}]}", ""},
	"container's name":         {"{containers: [{name: delegraph, image: mine}]}", "container delegraph: this is the name of the sidecar: rename or remove the container"},
	"init container's name":    {"{initContainers: [{name: delegraph, image: mine}], containers: [{name: agent, image: agent}]}", "container delegraph: this is the name"},
	"volume's name":            {"{containers: [{name: agent, image: agent}], volumes: [{name: delegraph-config, emptyDir: {}}, {name: delegraph-secret-readers, emptyDir: {}}]}", "volume delegraph-config: this is the name of a volume of the sidecar: rename it; volume delegraph-secret-readers:"},
	"Windows":                  {"{os: {name: windows}, containers: [{name: agent, image: agent}]}", "the pod is for Windows"},
	"node with Windows":        {"{nodeSelector: {kubernetes.io/os: windows}, containers: [{name: agent, image: agent}]}", "the pod is for Windows"},
	"injected, with a port":    {"{initContainers: [{name: delegraph, image: mine, restartPolicy: Always, ports: [{name: http, containerPort: 8080}]}], containers: [{name: agent, image: agent, ports: [{containerPort: 8080}]}], volumes: [{name: delegraph-config, emptyDir: {}}]}", "injected: container agent: port 8080 belongs"},
	"injected by a template":   {"{initContainers: [{name: delegraph, image: mine, restartPolicy: Always, ports: [{name: http, containerPort: 8080}]}], containers: [{name: agent, image: agent}], volumes: [{name: delegraph-config, emptyDir: {}}]}", ""},
}

// TestConflicts admits pods that cannot take the sidecar, for each value of inject.onConflict.
func TestConflicts(t *testing.T) {
	for _, action := range []string{"Deny", "Warn", "Skip"} {
		admitter := newAdmitter(t, render(t, chart, "--values", valuesFiles(t)["inject"], "--set", "inject.onConflict="+action))
		for name, c := range conflicts {
			t.Run(action+" "+name, func(t *testing.T) {
				checkConflict(t, admitter, action, labeled(t, "", c.spec), c.want)
			})
		}
	}
}

func checkConflict(t *testing.T, admitter admitter, action string, pod *core.Pod, want string) {
	t.Helper()
	after, warned, denied := admitter.try(t, pod)
	if want == "" {
		if denied != nil || len(warned) > 0 || after.Annotations[notInjected] != "" {
			t.Errorf("denied with %v, warned with %q, annotations %v", denied, warned, after.Annotations)
		}
		return
	}
	template := len(pod.Spec.InitContainers) > 0 && pod.Spec.InitContainers[0].Name == "delegraph" && pod.Spec.InitContainers[0].RestartPolicy != nil
	said := map[string]string{"Skip": after.Annotations[notInjected], "Warn": strings.Join(warned, "\n")}
	if denied != nil {
		said["Deny"] = denied.Error()
	}
	if !template { // the mutation does not touch a pod that has the sidecar
		same(t, pod.Spec, after.Spec)
		if !strings.Contains(after.Annotations[notInjected], want) {
			t.Errorf("the annotation is %q; want %q", after.Annotations[notInjected], want)
		}
	} else if action == "Skip" {
		return
	}
	if !strings.Contains(said[action], want) || !strings.HasSuffix(said[action], `To run the pod without the sidecar, set its label delegraph.dev/inject to "false"`) {
		t.Errorf("said %q; want %q", said[action], want)
	}
	if (denied != nil) != (action == "Deny") || (len(warned) > 0) != (action == "Warn") {
		t.Errorf("denied with %v, warned with %q", denied, warned)
	}
}

// TestConflictCopied injects a copy of a pod that was not injected, such as from kubectl get: what was said of it is removed.
func TestConflictCopied(t *testing.T) {
	pod := labeled(t, "annotations: {"+notInjected+": old}", agentAlone)
	after := newAdmitter(t, render(t, chart, "--values", valuesFiles(t)["inject"])).admit(t, pod)
	checkPod(t, after)
	if text, is := after.Annotations[notInjected]; is {
		t.Errorf("the annotation is still %q", text)
	}
}

// TestWrongAnnotations checks that a pod with a wrong annotation is refused with the rule for it.
func TestWrongAnnotations(t *testing.T) {
	quantity, bytes := "it must be a quantity above 0, such as", "it must be a quantity of at least 1Mi, such as 128Mi"
	const limit, level, image = "it must be a quantity of at least 32Mi, such as 512Mi", "it must be debug, info, warn or error", "it must be an image reference, such as registry.example.org/delegraph:0.1.0"
	admitter := newAdmitter(t, render(t, chart, "--values", valuesFiles(t)["inject"]))
	long := strings.Repeat("ä", 256)
	for name, c := range map[string]struct {
		want         string // the rule
		wrong, right []string
	}{
		"delegraph.dev/cpu-request":    {quantity, []string{"", "abc", "1 ", "100mm", "0", "-1", "1e"}, []string{"100m", "1", "0.5", "1e2"}},
		"delegraph.dev/cpu-limit":      {quantity, []string{"all", "0m"}, []string{"50m", "2"}},
		"delegraph.dev/memory-request": {bytes, []string{"128MB", "512m", "128", "-1Gi"}, []string{"64Mi", "1.5e8", "134217728"}},
		"delegraph.dev/memory-limit":   {limit, []string{"512", "512m", "31Mi", "lots"}, []string{"32Mi", "1Gi", "1.5Gi"}},
		"delegraph.dev/log-level":      {level, []string{"", "DEBUG", "trace", "info,debug"}, []string{"debug", "error"}},
		"delegraph.dev/image": {
			image,
			[]string{"", " ", "Delegraph", "registry.example.org/", "a b", "a:", "a@sha256:12", "https://example.org/a", "a:1\n", "a/../b", strings.Repeat("a", 513)},
			[]string{"delegraph", "delegraph:0.1.0", "localhost:5000/delegraph", "registry.example.org:443/team/del_egraph:v1@sha256:" + strings.Repeat("0", 64)},
		},
		"resource.opentelemetry.io/service.name": {"it must have 1 to 255 characters", []string{"", "  ", "a\nb", "a\x7fb", long}, []string{"billing agent", "fünf, $5 = 5%", long[2:]}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, value := range slices.Concat(c.wrong, c.right) {
				pod := labeled(t, "", agentAlone)
				pod.Annotations = map[string]string{name: value}
				after, _, denied := admitter.try(t, pod)
				if !slices.Contains(c.wrong, value) {
					if denied != nil || len(after.Spec.InitContainers) != 1 {
						t.Errorf("%q is refused: %v", value, denied)
					}
				} else if denied == nil || !strings.Contains(denied.Error(), "annotation "+name+": "+c.want) || len(after.Spec.InitContainers) > 0 {
					t.Errorf("%q: %v; want %q", value, denied, c.want)
				}
			}
		})
	}
	for _, annotations := range []map[string]string{
		{"delegraph.dev/memory-request": "1Gi"}, // the limit of the values
		{"delegraph.dev/memory-request": "64Mi", "delegraph.dev/memory-limit": "63Mi"},
		{"delegraph.dev/cpu-request": "2", "delegraph.dev/cpu-limit": "1999m"},
	} {
		pod := labeled(t, "", agentAlone)
		pod.Annotations = annotations
		if _, _, denied := admitter.try(t, pod); denied == nil || !strings.Contains(denied.Error(), "it is above the limit: lower it, or raise the annotation delegraph.dev/") {
			t.Errorf("%v: %v", annotations, denied)
		}
	}
}

// TestAnnotated checks that the annotations reach the sidecar.
func TestAnnotated(t *testing.T) {
	values := valuesFiles(t)["inject"]
	pod := labeled(t, `annotations: {delegraph.dev/image: "mirror.example.org/delegraph:1", delegraph.dev/log-level: debug, delegraph.dev/cpu-request: 20m, delegraph.dev/cpu-limit: "2", delegraph.dev/memory-limit: 64Mi}`,
		"{initContainers: [{name: first, image: first}], containers: [{name: agent, image: agent}]}")
	for name, c := range map[string]struct {
		args []string
		want core.ResourceRequirements
	}{
		"over the defaults": {nil, resources("20m", "64Mi", "2", "64Mi")},
		"without defaults":  {[]string{"--set-json", `resources=null`}, resources("20m", "", "2", "64Mi")},
	} {
		t.Run(name, func(t *testing.T) {
			after := newAdmitter(t, render(t, chart, append([]string{"--values", values}, c.args...)...)).admit(t, pod)
			checkPod(t, after)
			sidecar := after.Spec.InitContainers[1]
			same(t, "mirror.example.org/delegraph:1", sidecar.Image)
			if !slices.Contains(sidecar.Args, "--log.level=debug") {
				t.Errorf("arguments %q", sidecar.Args)
			}
			same(t, "60397977", variable(sidecar, "GOMEMLIMIT"))
			for _, pair := range [][2]core.ResourceList{{c.want.Requests, sidecar.Resources.Requests}, {c.want.Limits, sidecar.Resources.Limits}} {
				for _, name := range []core.ResourceName{core.ResourceCPU, core.ResourceMemory} {
					want, got := pair[0][name], pair[1][name]
					if want.Cmp(got) != 0 {
						t.Errorf("%s is %s; want %s", name, got.String(), want.String())
					}
				}
			}
		})
	}
}

// resources returns what is requested and its limits; "" for none.
func resources(cpuRequest, memoryRequest, cpuLimit, memoryLimit string) core.ResourceRequirements {
	list := func(cpu, memory string) core.ResourceList {
		all := core.ResourceList{}
		for name, text := range map[core.ResourceName]string{core.ResourceCPU: cpu, core.ResourceMemory: memory} {
			if text != "" {
				all[name] = resource.MustParse(text)
			}
		}
		return all
	}
	return core.ResourceRequirements{Requests: list(cpuRequest, memoryRequest), Limits: list(cpuLimit, memoryLimit)}
}

// variable returns the value of an environment variable.
func variable(container core.Container, name string) string {
	for _, v := range container.Env {
		if v.Name == name {
			return v.Value
		}
	}
	return ""
}

// TestServiceName checks the service name and the workload's attributes of injected pods, in the order of the OpenTelemetry
// conventions.
func TestServiceName(t *testing.T) {
	owner := func(api, kind, name string) string {
		return "ownerReferences: [{apiVersion: " + api + ", kind: " + kind + ", name: " + name + ", uid: u, controller: true}]"
	}
	deployed := owner("apps/v1", "ReplicaSet", "support-7d4b9c6f5")
	const hash, instance, name = "pod-template-hash: 7d4b9c6f5", "app.kubernetes.io/instance: eu", "app.kubernetes.io/name: support"
	file := valuesFiles(t)["inject"]
	usual := newAdmitter(t, render(t, chart, "--values", file))
	fixed := newAdmitter(t, render(t, chart, "--values", file, "--set-json", `traces.resourceAttributes={"service.name":"all $(A)"}`))
	given := newAdmitter(t, render(t, chart, "--values", file, "--set-json", `env=[{"name":"OTEL_SERVICE_NAME","value":"mine"},{"name":"OTEL_RESOURCE_ATTRIBUTES","value":"a=b"}]`))
	for _, c := range []struct {
		admitter admitter
		metadata string
		service  string
		last     string // of the attributes
	}{
		{usual, "", "$(POD_NAME)", "k8s.container.name=delegraph"},
		{usual, deployed + ", labels: {" + hash + "}", "support", "delegraph,k8s.deployment.name=support,k8s.replicaset.name=support-7d4b9c6f5"},
		{usual, deployed, "support-7d4b9c6f5", "delegraph,k8s.replicaset.name=support-7d4b9c6f5"},
		{usual, owner("apps/v1", "StatefulSet", "memory"), "memory", "delegraph,k8s.statefulset.name=memory"},
		{usual, owner("batch/v1", "Job", "nightly-29"), "nightly-29", "delegraph,k8s.job.name=nightly-29"},
		{usual, owner("example.org/v1", "DaemonSet", "other"), "$(POD_NAME)", "k8s.container.name=delegraph"},
		{usual, deployed + ", labels: {" + hash + ", " + name + "}", "support", "k8s.replicaset.name=support-7d4b9c6f5"},
		{usual, deployed + ", labels: {" + hash + ", " + name + ", " + instance + "}", "eu", "k8s.replicaset.name=support-7d4b9c6f5"},
		{usual, "labels: {" + name + ", app.kubernetes.io/instance: ''}", "support", "k8s.container.name=delegraph"},
		{usual, "labels: {" + instance + "}, annotations: {resource.opentelemetry.io/service.name: 'a, $(B)'}", "a, $$(B)", "k8s.container.name=delegraph"},
		{fixed, "labels: {" + instance + "}", "all $$(A)", ",service.name=all%20%24%28A%29"},
		{fixed, "annotations: {resource.opentelemetry.io/service.name: own}", "own", ",service.name=all%20%24%28A%29"},
		{given, "labels: {" + instance + "}, annotations: {resource.opentelemetry.io/service.name: own}", "mine", "a=b"},
	} {
		sidecar := c.admitter.admit(t, labeled(t, c.metadata, agentAlone)).Spec.InitContainers[0]
		if got := variable(sidecar, "OTEL_SERVICE_NAME"); got != c.service {
			t.Errorf("%s: the service is %q; want %q", c.metadata, got, c.service)
		}
		if got := variable(sidecar, "OTEL_RESOURCE_ATTRIBUTES"); !strings.HasSuffix(got, c.last) {
			t.Errorf("%s: attributes %s; want %s at the end", c.metadata, got, c.last)
		}
	}
}
