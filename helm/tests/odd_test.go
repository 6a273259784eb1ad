package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation"
)

// everywhere makes every kind of object.
const everywhere = `
config:
  sources: [{name: a, proxy: {listen: ":8080", upstream: "http://agent.default:8000"}}]
  stream: {listen: "[::]:10478", authentication: {bearer_tokens_file: /run/secrets/delegraph/readers/tokens}}
secrets: {readers: {data: {tokens: 0123456789abcdefghijklmnopqrstuv}}}
prometheusRule: {enabled: true}
dashboards: {enabled: true}
networkPolicy: {enabled: true}
`

// TestNames installs under every name that Helm lets a release have: what the chart makes of it is a name and a label to Kubernetes,
// and not a number or nothing.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	for mode, values := range map[string]string{
		"standalone": everywhere + "serviceMonitor: {enabled: true}",
		"library":    everywhere + "podMonitor: {enabled: true}",
		"inject":     strings.Replace(everywhere, "data: {tokens: 0123456789abcdefghijklmnopqrstuv}", "existingSecret: tokens", 1) + "podMonitor: {enabled: true}",
	} {
		write(t, filepath.Join(dir, mode), values+"\nmode: "+mode)
	}
	for _, release := range []string{
		"a", "agents", "delegraph", "a.b", "1", "123", "1.5", "1e3", "0x1f", "true", "null", "2026-11-21",
		strings.Repeat("a", 53), strings.Repeat("a", 49) + ".bbb", strings.Repeat("a", 48) + "--bbb", "delegraph." + strings.Repeat("1.", 20) + "1",
	} {
		t.Run(release, func(t *testing.T) {
			for _, mode := range []string{"standalone", "library", "inject"} {
				out, problems, err := run(t, tool(t, "helm"), "template", release, chart, "--namespace", "agents", "--api-versions", policyAPI, "--values", filepath.Join(dir, mode))
				if err != nil {
					t.Fatalf("%s: %v\n%s", mode, err, problems)
				}
				checkObjects(t, out)
			}
		})
	}
}

// checkObjects holds what is rendered to what an API server would say of names, labels and ports.
func checkObjects(t *testing.T, rendered string) {
	t.Helper()
	taken := sets.New[string]()
	for _, m := range manifests(t, rendered) {
		object := typed(m.kind)
		if object == nil {
			t.Errorf("no type for %s", m.kind)
			continue
		}
		strictly(t, m.text, object)
		named, ok := object.(meta.Object)
		if !ok {
			t.Fatalf("%s has no name", m.kind)
		}
		if id := m.kind + "/" + named.GetName(); taken.Has(id) {
			t.Errorf("two of %s", id)
		} else {
			taken.Insert(id)
		}
		checkLabels(t, m.kind, named.GetLabels())
		for _, wrong := range validation.IsDNS1123Subdomain(named.GetName()) {
			t.Errorf("%s %q: %s", m.kind, named.GetName(), wrong)
		}
		switch object := object.(type) {
		case *core.Service:
			checkService(t, object)
		case *apps.Deployment:
			selector, err := meta.LabelSelectorAsSelector(object.Spec.Selector)
			if err != nil || !selector.Matches(labels.Set(object.Spec.Template.Labels)) {
				t.Errorf("selector %v of pods with %v: %v", object.Spec.Selector, object.Spec.Template.Labels, err)
			}
			checkLabels(t, "pod", object.Spec.Template.Labels)
			checkPorts(t, object.Spec.Template.Spec)
		case *core.Pod:
			checkPorts(t, object.Spec)
		}
	}
}

func checkLabels(t *testing.T, kind string, given map[string]string) {
	t.Helper()
	for name, value := range given {
		for _, wrong := range append(validation.IsQualifiedName(name), validation.IsValidLabelValue(value)...) {
			t.Errorf("%s, label %s=%s: %s", kind, name, value, wrong)
		}
	}
}

func checkService(t *testing.T, service *core.Service) {
	t.Helper()
	for _, wrong := range validation.IsDNS1035Label(service.Name) {
		t.Errorf("Service %q: %s", service.Name, wrong)
	}
	taken := sets.New[string]()
	for _, port := range service.Spec.Ports {
		number := fmt.Sprint(port.Port)
		if taken.Has(number) || taken.Has(port.Name) || port.TargetPort.Type != intstr.String {
			t.Errorf("port %v of %v", port, service.Spec.Ports)
		}
		taken.Insert(number, port.Name)
	}
}

func checkPorts(t *testing.T, pod core.PodSpec) {
	t.Helper()
	for _, container := range append(append([]core.Container{}, pod.InitContainers...), pod.Containers...) {
		for _, port := range container.Ports {
			for _, wrong := range append(validation.IsValidPortName(port.Name), validation.IsValidPortNum(int(port.ContainerPort))...) {
				t.Errorf("port %v: %s", port, wrong)
			}
		}
	}
}

// deployed is the Deployment that is made of values.
func deployed(t *testing.T, values string) apps.Deployment {
	t.Helper()
	file := filepath.Join(t.TempDir(), "values.yaml")
	write(t, file, values)
	rendered := render(t, chart, "--values", file)
	checkObjects(t, rendered)
	var deployment apps.Deployment
	strictly(t, only(t, rendered, "Deployment"), &deployment)
	return deployment
}

const behindProxy = "config: {sources: [{name: a, proxy: {listen: ':8080', upstream: 'http://agent.default:8000'}}]}\n"

// environment is the container's, without what is of the pod.
func environment(deployment apps.Deployment) map[string]string {
	env := map[string]string{}
	for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
		switch from := variable.ValueFrom; {
		case from == nil:
			env[variable.Name] = variable.Value
		case from.SecretKeyRef != nil:
			env[variable.Name] = from.SecretKeyRef.Name + "/" + from.SecretKeyRef.Key
		case from.ResourceFieldRef != nil:
			env[variable.Name] = from.ResourceFieldRef.Resource
		}
	}
	return env
}

// TestTraceEnvironment shows that spans go where the values say, whichever of them says it.
func TestTraceEnvironment(t *testing.T) {
	const endpoint, off = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_EXPORTER"
	secret := "env: [{name: OTEL_EXPORTER_OTLP_%sENDPOINT, valueFrom: {secretKeyRef: {name: otlp, key: url}}}]\n"
	for name, c := range map[string]struct {
		values string
		want   map[string]string // "" for a variable that is not there
	}{
		"none":                    {"", map[string]string{off: "none", endpoint: ""}},
		"values":                  {"traces: {endpoint: 'http://c:4317'}", map[string]string{off: "", endpoint: "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}},
		"secret":                  {fmt.Sprintf(secret, ""), map[string]string{off: "", endpoint: "otlp/url", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}},
		"secret of traces":        {fmt.Sprintf(secret, "TRACES_"), map[string]string{off: "", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "otlp/url"}},
		"both secret":             {fmt.Sprintf(secret, "") + "traces: {headersSecret: {name: keys}}", map[string]string{off: "", "OTEL_EXPORTER_OTLP_HEADERS": "keys/headers"}},
		"console":                 {"env: [{name: OTEL_TRACES_EXPORTER, value: console}]", map[string]string{off: "console"}},
		"attributes of all types": {"traces: {resourceAttributes: {build: 12345678, even: true, half: 0.5, team: 'a,b'}}", map[string]string{off: "none"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := environment(deployed(t, behindProxy+c.values))
			for variable, want := range c.want {
				if got[variable] != want {
					t.Errorf("%s is %q; want %q", variable, got[variable], want)
				}
			}
			if want := ",build=12345678,even=true,half=0.5,team=a%2Cb"; strings.Contains(c.values, "build") && !strings.HasSuffix(got["OTEL_RESOURCE_ATTRIBUTES"], want) {
				t.Errorf("attributes %s; want %s at the end", got["OTEL_RESOURCE_ATTRIBUTES"], want)
			}
		})
	}
}

// TestMemory shows that Go begins to save before the container is killed.
func TestMemory(t *testing.T) {
	for limit, want := range map[string]string{
		"512Mi": "471859KiB", "1Gi": "943718KiB", "262144Ki": "235929KiB", "1.5Gi": "limits.memory", "1G": "limits.memory", "268435456": "limits.memory", "null": "limits.memory",
	} {
		if got := environment(deployed(t, behindProxy+"resources: {limits: {memory: "+limit+"}}"))["GOMEMLIMIT"]; got != want {
			t.Errorf("of %s Go may take %s; want %s", limit, got, want)
		}
	}
}

// TestLabelsOfTheUser shows that a pod keeps the labels that find it, and that an autoscaler may say how many there are.
func TestLabelsOfTheUser(t *testing.T) {
	deployment := deployed(t, behindProxy+"standalone: {replicas: null, podLabels: {app.kubernetes.io/name: mine, team: fire}}\npodMonitor: {enabled: true, endpoint: {path: /else, scheme: https}}")
	if deployment.Spec.Replicas != nil {
		t.Errorf("%d replicas", *deployment.Spec.Replicas)
	}
	same(t, map[string]string{"app.kubernetes.io/name": "delegraph", "app.kubernetes.io/instance": "demo", "team": "fire"}, deployment.Spec.Template.Labels)
}

// mistakes of Delegraph's own tests that are not the chart's to find: bounds of sizes and durations, and the inside of a glob.
var mistakes = sets.New("invalid-size-overflow.yml", "invalid-path-glob.yml")

// TestMistakes shows that a configuration which Delegraph would refuse is refused before any pod is made of it: a sidecar that does
// not start keeps its agent from starting.
func TestMistakes(t *testing.T) {
	program := filepath.Join(t.TempDir(), "delegraph")
	build(t, program, "/", "dev")
	files, err := filepath.Glob("../../config/testdata/invalid-*.yml")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			values, written := filepath.Join(t.TempDir(), "values.yaml"), filepath.Join(t.TempDir(), "delegraph.yml")
			write(t, values, "mode: library\nconfig:\n  "+strings.ReplaceAll(string(text), "\n", "\n  "))
			rendered, _, err := run(t, tool(t, "helm"), "template", "demo", chart, "--values", values, "--show-only", "templates/configmap.yaml")
			if err != nil {
				return
			}
			// What is a mistake of YAML may be none any more when Helm has read it.
			write(t, written, configuration(t, rendered))
			if _, problems, err := run(t, program, "check", "--config.file="+written); err != nil && !mistakes.Has(filepath.Base(file)) {
				t.Errorf("the chart installs it, and Delegraph says: %s", problems)
			}
		})
	}
}

// TestWords shows that the schema has the words that Delegraph has, which says them when it is given another one.
func TestWords(t *testing.T) {
	program, file := filepath.Join(t.TempDir(), "delegraph"), filepath.Join(t.TempDir(), "delegraph.yml")
	build(t, program, "/", "dev")
	write(t, file, "sources: [{name: a, dialect: '0000000000', proxy: {listen: ':1', upstream: 'http://b'}}]\nstream: {kinds: {in: ['0000000000']}}\n")
	_, problems, err := run(t, program, "check", "--config.file="+file)
	if err == nil {
		t.Fatal("it is a configuration")
	}
	root := readSchema(t)
	for _, c := range []struct {
		key   string
		words []any
	}{{"dialect", root.Defs["source"].Properties["dialect"].Enum}, {"kinds", root.Defs["kinds"].Items.Enum}} {
		var known []any
		for line := range strings.Lines(problems) {
			if _, list, found := strings.Cut(line, "use one of "); found && strings.Contains(line, c.key) {
				for word := range strings.SplitSeq(strings.TrimSpace(list), ", ") {
					known = append(known, word)
				}
			}
		}
		same(t, known, c.words)
	}
}

// TestNothing takes each default away, as null does, and --reuse-values of a release before the value was: what is made is as good, or
// a sentence says what is missing.
func TestNothing(t *testing.T) {
	values := filepath.Join(t.TempDir(), "values.yaml")
	write(t, values, everywhere)
	for _, key := range keys("", mapping(t, filepath.Join(chart, "values.yaml"))) {
		if strings.HasPrefix(key, "config.") || strings.HasPrefix(key, "networkPolicy.adminFrom.") {
			continue // not of the chart, or of a list
		}
		t.Run(key, func(t *testing.T) {
			out, problems, err := run(t, tool(t, "helm"), "template", "demo", chart, "--values", values, "--set", key+"=null")
			if err == nil {
				checkObjects(t, out)
				if strings.Contains(out, "<nil>") || key == "mode" {
					t.Error(out)
				}
			} else if !strings.Contains(problems, "missing propert") && !strings.Contains(problems, "execution error at") {
				t.Error(problems)
			}
		})
	}
}
