package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
)

// parent returns the folder of a chart whose pod includes the sidecar.
func parent(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "parent")
	if err := os.CopyFS(dir, os.DirFS("testdata/parent")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "charts", "delegraph"), os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestLibrary includes the sidecar in another chart, as the documentation describes.
func TestLibrary(t *testing.T) {
	dir := parent(t)
	if out, problems, err := run(t, tool(t, "helm"), "lint", "--strict", dir); err != nil {
		t.Errorf("%v\n%s%s", err, out, problems)
	}
	rendered := render(t, dir)
	golden(t, "testdata/parent.golden", rendered)
	var deployment apps.Deployment
	strictly(t, only(t, rendered, "Deployment"), &deployment)
	pod := &core.Pod{ObjectMeta: deployment.Spec.Template.ObjectMeta, Spec: deployment.Spec.Template.Spec}
	checkPod(t, pod)
	var test core.Pod
	strictly(t, only(t, rendered, "Pod"), &test)
	same(t, test.Spec.InitContainers[0], pod.Spec.InitContainers[0])
}

// TestLibraryTwice includes a sidecar in the pods of two agents of one chart, with two names that use every allowed kind of
// character.
func TestLibraryTwice(t *testing.T) {
	dir := parent(t)
	file := filepath.Join(dir, "Chart.yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, dependency, _ := strings.Cut(string(text), "  - name")
	write(t, file, before+"  - name"+dependency+"  - name"+strings.Replace(dependency, "alias: watch", "alias: second_Watch", 1))
	file = filepath.Join(dir, "templates", "deployment.yaml")
	pod, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "templates", "second.yaml"), strings.NewReplacer("my-agent", "second", ".Subcharts.watch", ".Subcharts.second_Watch").Replace(string(pod)))
	values, err := os.ReadFile(filepath.Join(dir, "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	more := "  networkPolicy: {enabled: true}\n  podMonitor: {enabled: true}\n  dashboards: {enabled: true}\n"
	write(t, filepath.Join(dir, "values.yaml"), string(values)+more+strings.Replace(string(values), "watch:", "second_Watch:", 1)+more)
	rendered := render(t, dir)
	checkObjects(t, rendered)
	var selected []string
	for _, m := range manifests(t, rendered) {
		switch m.kind {
		case "Deployment":
			var deployment apps.Deployment
			strictly(t, m.text, &deployment)
			checkPod(t, &core.Pod{ObjectMeta: deployment.Spec.Template.ObjectMeta, Spec: deployment.Spec.Template.Spec})
			selected = append(selected, deployment.Spec.Template.Labels["delegraph.dev/instance"]+" has "+deployment.Spec.Template.Spec.Volumes[0].ConfigMap.Name)
		case "NetworkPolicy":
			var policy networking.NetworkPolicy
			strictly(t, m.text, &policy)
			selected = append(selected, policy.Spec.PodSelector.MatchLabels["delegraph.dev/instance"]+" is protected")
		case "PodMonitor":
			var monitor monitoring.PodMonitor
			strictly(t, m.text, &monitor)
			selected = append(selected, monitor.Spec.Selector.MatchLabels["delegraph.dev/instance"]+" is scraped")
		}
	}
	same(t, []string{
		"demo-second-watch has demo-second-watch", "demo-second-watch is protected", "demo-second-watch is scraped",
		"demo-watch has demo-watch", "demo-watch is protected", "demo-watch is scraped",
	}, sorted(selected))
}

// TestLibraryByMistake includes the sidecar without the mode for it: its container would be an init container that never ends.
func TestLibraryByMistake(t *testing.T) {
	dir := parent(t)
	for mode, source := range map[string]string{"standalone": "http://agent:8000", "inject": "http://127.0.0.1:8000"} {
		_, problems, err := run(t, tool(t, "helm"), "template", "demo", dir, "--api-versions", clusterAPIs, "--set", "watch.mode="+mode, "--set", "watch.config.sources[0].proxy.upstream="+source, "--set", "watch.config.sources[0].name=a", "--set", "watch.config.sources[0].proxy.listen=:8080")
		if want := "a chart includes the sidecar, and its values say mode: " + mode + ": set mode: library below the name of the dependency"; err == nil || !strings.Contains(problems, want) {
			t.Errorf("refused with %v, %s; want %q", err, problems, want)
		}
	}
}

// block matches a fenced block of YAML.
var block = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestDocumentedValues renders the examples in the documentation: values as values, and pod templates as part of another chart.
func TestDocumentedValues(t *testing.T) {
	pages := map[string]int{"../../docs/how-to/kubernetes.md": 3, filepath.Join(chart, "README.md"): 4}
	for _, file := range []string{"nats", "sidecar", "gateway", "adapter"} {
		pages["../../examples/gateways/"+file+".yaml"] = 1
	}
	for file, want := range pages {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, ".yaml") {
			text = fmt.Appendf(nil, "```yaml\n%s```\n", text)
		}
		rendered := 0
		for _, found := range block.FindAllStringSubmatch(string(text), -1) {
			switch shown := found[1]; {
			case strings.HasPrefix(shown, "# Values of the chart ") && !strings.HasPrefix(shown, "# Values of the chart delegraph"): // of another chart
				var values map[string]any
				strictly(t, shown, &values)
			case strings.Contains(shown, "delegraph.container"):
				if !strings.HasPrefix(shown, "template:") {
					shown = "template:\n  " + strings.ReplaceAll(strings.ReplaceAll(shown, "\n", "\n  "), "nindent 4", "nindent 6")
				}
				checkDocumentedPod(t, shown)
			case strings.Contains(shown, "delegraph.dev/image"):
				checkDocumentedAnnotations(t, shown)
			case strings.Contains(shown, "dependencies:"):
				var described struct {
					Dependencies []struct{ Name, Version, Repository string }
				}
				strictly(t, shown, &described)
				if len(described.Dependencies) != 1 || described.Dependencies[0].Name != "delegraph" {
					t.Errorf("%s: %v", file, described)
				}
			default:
				values := filepath.Join(t.TempDir(), "values.yaml")
				if !strings.Contains(shown, "\nmode: gateway\n") {
					shown = strings.Replace(shown, "config:\n  stream:", "config:\n  sources: [{name: a, proxy: {listen: ':8080', upstream: 'http://a:8000'}}]\n  stream:", 1)
				}
				write(t, values, shown)
				folder := chart
				if strings.Contains(shown, "delegraph:\n  mode") {
					folder = parent(t)
					write(t, values, strings.Replace(shown, "delegraph:\n", "watch:\n", 1))
				}
				checkObjects(t, render(t, folder, "--values", values))
			}
			rendered++
		}
		if rendered != want {
			t.Errorf("%s has %d blocks of YAML, want %d", file, rendered, want)
		}
	}
}

// checkDocumentedAnnotations injects a pod with the annotations of an example.
func checkDocumentedAnnotations(t *testing.T, shown string) {
	t.Helper()
	var example struct{ Template core.PodTemplateSpec }
	strictly(t, shown, &example)
	pod := labeled(t, "", agentAlone)
	pod.ObjectMeta.Annotations, pod.Labels = example.Template.Annotations, example.Template.Labels
	checkPod(t, newAdmitter(t, render(t, chart, "--values", valuesFiles(t)["inject"])).admit(t, pod))
}

func checkDocumentedPod(t *testing.T, template string) {
	t.Helper()
	dir := parent(t)
	template = strings.ReplaceAll(strings.ReplaceAll("  "+strings.ReplaceAll(template, "\n", "\n  "), "nindent 6", "nindent 8"), ".Subcharts.delegraph", ".Subcharts.watch")
	write(t, filepath.Join(dir, "templates", "deployment.yaml"), "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: my-agent}\nspec:\n  selector: {matchLabels: {delegraph.dev/instance: demo-watch}}\n"+template)
	rendered := render(t, dir)
	checkObjects(t, rendered)
	var deployment apps.Deployment
	strictly(t, only(t, rendered, "Deployment"), &deployment)
	checkPod(t, &core.Pod{ObjectMeta: deployment.Spec.Template.ObjectMeta, Spec: deployment.Spec.Template.Spec})
}
