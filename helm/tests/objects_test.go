package tests

import (
	"fmt"
	"path/filepath"
	"regexp"
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

// everywhere makes the chart render every kind of object.
const everywhere = `
config:
  sources: [{name: a, proxy: {listen: ":8080", upstream: "http://agent.default:8000"}}]
  stream: {listen: "[::]:10478", authentication: {bearer_tokens_file: /run/secrets/delegraph/readers/tokens}}
secrets: {readers: {data: {tokens: 0123456789abcdefghijklmnopqrstuv}}}
prometheusRule: {enabled: true}
dashboards: {enabled: true}
networkPolicy: {enabled: true}
`

// everyGateway makes the chart render every kind of object that a gateway has.
const everyGateway = `
mode: gateway
config:
  stream:
    listen: ":10478"
    store: jetstream
    jetstream: {urls: ["nats://nats:4222"]}
    authentication: {bearer_tokens_file: /run/secrets/delegraph/readers/tokens}
secrets: {readers: {data: {tokens: 0123456789abcdefghijklmnopqrstuv}}}
gateway: {autoscaling: {enabled: true, subscribers: 5000}}
serviceMonitor: {enabled: true}
prometheusRule: {enabled: true}
dashboards: {enabled: true}
networkPolicy: {enabled: true, egress: [{ports: [{port: 4222}]}]}
`

// TestNames installs releases with every kind of name that Helm allows, and checks that the resulting names and labels are valid
// strings for Kubernetes.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	for mode, values := range map[string]string{
		"standalone": everywhere + "serviceMonitor: {enabled: true}",
		"library":    everywhere + "podMonitor: {enabled: true}",
		"inject":     strings.Replace(everywhere, "data: {tokens: 0123456789abcdefghijklmnopqrstuv}", "existingSecret: tokens", 1) + "podMonitor: {enabled: true}",
	} {
		write(t, filepath.Join(dir, mode), values+"\nmode: "+mode)
	}
	write(t, filepath.Join(dir, "gateway"), everyGateway)
	for _, release := range []string{
		"a", "agents", "delegraph", "a.b", "1", "123", "1.5", "1e3", "0x1f", "true", "null", "2026-11-21",
		strings.Repeat("a", 53), strings.Repeat("a", 49) + ".bbb", strings.Repeat("a", 48) + "--bbb", "delegraph." + strings.Repeat("1.", 20) + "1",
	} {
		t.Run(release, func(t *testing.T) {
			for _, mode := range []string{"standalone", "library", "inject", "gateway"} {
				out, problems, err := run(t, tool(t, "helm"), "template", release, chart, "--namespace", "agents", "--api-versions", clusterAPIs, "--values", filepath.Join(dir, mode))
				if err != nil {
					t.Fatalf("%s: %v\n%s", mode, err, problems)
				}
				checkObjects(t, out)
			}
		})
	}
}

// checkObjects checks the rendered names, labels and ports as an API server would.
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
			for _, spread := range object.Spec.Template.Spec.TopologySpreadConstraints {
				if selector, err := meta.LabelSelectorAsSelector(spread.LabelSelector); err != nil || !selector.Matches(labels.Set(object.Spec.Template.Labels)) {
					t.Errorf("pods with %v are spread by %v: %v", object.Spec.Template.Labels, spread.LabelSelector, err)
				}
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

// elsewhere matches keys that the chart does not read itself, or that belong to lists.
var elsewhere = regexp.MustCompile(`^(config|networkPolicy\.adminFrom|gateway\.topologySpreadConstraints|gateway\.autoscaling\.behavior\.scaleDown\.policies)\.`)

// TestNothing removes each default value, as null does, or --reuse-values of a release without it. The chart must render, or name
// the missing value.
func TestNothing(t *testing.T) {
	values, gateway := filepath.Join(t.TempDir(), "values.yaml"), filepath.Join(t.TempDir(), "gateway.yaml")
	write(t, values, everywhere)
	write(t, gateway, everyGateway)
	for _, key := range keys("", mapping(t, filepath.Join(chart, "values.yaml"))) {
		if elsewhere.MatchString(key) {
			continue
		}
		t.Run(key, func(t *testing.T) {
			values := values
			if key == "gateway" || strings.HasPrefix(key, "gateway.") {
				values = gateway
			}
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
