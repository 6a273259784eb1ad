package tests

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
)

// deployed returns the Deployment rendered from values.
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

// environment returns the container's variables, without those that depend on the pod.
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

// TestTraceEnvironment checks that each way to configure the trace backend reaches the container's environment.
func TestTraceEnvironment(t *testing.T) {
	const endpoint, off = "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_TRACES_EXPORTER"
	secret := "env: [{name: OTEL_EXPORTER_OTLP_%sENDPOINT, valueFrom: {secretKeyRef: {name: otlp, key: url}}}]\n"
	for name, c := range map[string]struct {
		values string
		want   map[string]string // "" for a variable that must be absent
	}{
		"none":                    {"", map[string]string{off: "none", endpoint: ""}},
		"values":                  {"traces: {endpoint: 'http://c:4317'}", map[string]string{off: "", endpoint: "http://c:4317", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}},
		"secret":                  {fmt.Sprintf(secret, ""), map[string]string{off: "", endpoint: "otlp/url", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}},
		"secret of traces":        {fmt.Sprintf(secret, "TRACES_"), map[string]string{off: "", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "otlp/url"}},
		"both secret":             {fmt.Sprintf(secret, "") + "traces: {headersSecret: {name: keys}}", map[string]string{off: "", "OTEL_EXPORTER_OTLP_HEADERS": "keys/headers"}},
		"console":                 {"env: [{name: OTEL_TRACES_EXPORTER, value: console}]", map[string]string{off: "console"}},
		"service of the release":  {"", map[string]string{"OTEL_SERVICE_NAME": "demo"}},
		"service of the values":   {"traces: {resourceAttributes: {service.name: mine}}", map[string]string{"OTEL_SERVICE_NAME": ""}},
		"service of attributes":   {"env: [{name: OTEL_RESOURCE_ATTRIBUTES, value: 'a=b,service.name=mine'}]", map[string]string{"OTEL_SERVICE_NAME": ""}},
		"service of the variable": {"env: [{name: OTEL_SERVICE_NAME, value: mine}]", map[string]string{"OTEL_SERVICE_NAME": "mine"}},
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

// TestMemory checks that Go's memory limit is below the container's limit.
func TestMemory(t *testing.T) {
	for limit, want := range map[string]string{
		"512Mi": "471859KiB", "1Gi": "943718KiB", "262144Ki": "235929KiB", "1.5Gi": "limits.memory", "1G": "limits.memory", "268435456": "limits.memory", "null": "limits.memory",
	} {
		if got := environment(deployed(t, behindProxy+"resources: {limits: {memory: "+limit+"}}"))["GOMEMLIMIT"]; got != want {
			t.Errorf("with the limit %s, GOMEMLIMIT is %s; want %s", limit, got, want)
		}
	}
}

// TestLabelsOfTheUser checks that user labels do not replace the selector's labels, and that replicas may be left to an
// autoscaler.
func TestLabelsOfTheUser(t *testing.T) {
	deployment := deployed(t, behindProxy+"standalone: {replicas: null, podLabels: {app.kubernetes.io/name: mine, team: fire}}\npodMonitor: {enabled: true, endpoint: {path: /else, scheme: https}}")
	if deployment.Spec.Replicas != nil {
		t.Errorf("%d replicas", *deployment.Spec.Replicas)
	}
	same(t, map[string]string{"app.kubernetes.io/name": "delegraph", "app.kubernetes.io/instance": "demo", "team": "fire"}, deployment.Spec.Template.Labels)
}
