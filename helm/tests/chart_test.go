package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	admissionregistration "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"sigs.k8s.io/yaml"
)

func TestLint(t *testing.T) {
	for name, file := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) {
			out, problems, err := run(t, tool(t, "helm"), "lint", "--strict", chart, "--values", file)
			if err != nil {
				t.Errorf("%v\n%s%s", err, out, problems)
			}
		})
	}
}

// TestGoldens compares the rendered chart with a golden file for each example. The copied files in it are checked by TestFiles.
func TestGoldens(t *testing.T) {
	for name, file := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) {
			golden(t, filepath.Join("testdata", name+".golden"), withoutFiles(t, render(t, chart, "--values", file)))
		})
	}
}

func withoutFiles(t *testing.T, rendered string) string {
	var short strings.Builder
	for _, m := range manifests(t, rendered) {
		text := m.text
		switch m.source {
		case "templates/dashboards.yaml":
			text = text[:strings.Index(text, "|\n")] + "(as it is)\n"
		case "templates/prometheusrule.yaml":
			text = text[:strings.Index(text, "\nspec:")] + "\nspec: (as it is)\n"
		}
		short.WriteString("---\n" + text)
	}
	return short.String()
}

// TestFiles checks that the chart contains the dashboards and rules and installs them unchanged.
func TestFiles(t *testing.T) {
	copies := map[string]string{"rules.yml": "../../dashboards/rules/delegraph.yml"}
	dashboards, err := filepath.Glob("../../dashboards/*.json")
	if err != nil || len(dashboards) == 0 {
		t.Fatalf("%d dashboards, %v", len(dashboards), err)
	}
	for _, file := range dashboards {
		copies[filepath.Base(file)] = file
	}
	entries, err := os.ReadDir(filepath.Join(chart, "files"))
	if err != nil || len(entries) != len(copies) {
		t.Fatalf("the chart has %d files and not %d: run helm/copy-files (%v)", len(entries), len(copies), err)
	}
	rendered := render(t, chart, "--values", valuesFiles(t)["monitoring"])
	installed := map[string]string{}
	for _, m := range manifests(t, rendered) {
		if m.source == "templates/dashboards.yaml" {
			var object core.ConfigMap
			strictly(t, m.text, &object)
			for name, content := range object.Data {
				installed[strings.TrimPrefix(name, "delegraph-")] = content
			}
		}
	}
	for name, file := range copies {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(chart, "files", name))
		if err != nil || string(got) != string(want) {
			t.Errorf("%s differs from the file in dashboards: run helm/copy-files (%v)", name, err)
		}
		if name != "rules.yml" && installed[name] != string(got) {
			t.Errorf("%s is installed as %.100q", name, installed[name])
		}
	}
	var rule struct{ Spec map[string]any }
	var rules map[string]any
	strictlyEnough(t, only(t, rendered, "PrometheusRule"), &rule)
	text, err := os.ReadFile(filepath.Join(chart, "files", "rules.yml"))
	if err != nil {
		t.Fatal(err)
	}
	strictlyEnough(t, string(text), &rules)
	same(t, rules, rule.Spec)
}

// TestTypes decodes every object into the Go types of the newest Kubernetes and of the Prometheus operator.
func TestTypes(t *testing.T) {
	for name, file := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) { checkObjects(t, render(t, chart, "--values", file)) })
	}
}

func typed(kind string) any {
	switch kind {
	case "ConfigMap":
		return new(core.ConfigMap)
	case "Deployment":
		return new(apps.Deployment)
	case "HorizontalPodAutoscaler":
		return new(autoscaling.HorizontalPodAutoscaler)
	case "MutatingAdmissionPolicy":
		return new(admissionregistration.MutatingAdmissionPolicy)
	case "MutatingAdmissionPolicyBinding":
		return new(admissionregistration.MutatingAdmissionPolicyBinding)
	case "NetworkPolicy":
		return new(networking.NetworkPolicy)
	case "Pod":
		return new(core.Pod)
	case "PodDisruptionBudget":
		return new(policy.PodDisruptionBudget)
	case "PodMonitor":
		return new(monitoring.PodMonitor)
	case "PrometheusRule":
		return new(monitoring.PrometheusRule)
	case "Secret":
		return new(core.Secret)
	case "Service":
		return new(core.Service)
	case "ServiceMonitor":
		return new(monitoring.ServiceMonitor)
	case "ValidatingAdmissionPolicy":
		return new(admissionregistration.ValidatingAdmissionPolicy)
	case "ValidatingAdmissionPolicyBinding":
		return new(admissionregistration.ValidatingAdmissionPolicyBinding)
	}
	return nil
}

// strictly decodes and refuses unknown members.
func strictly(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
		t.Errorf("%v in\n%.500s", err, text)
	}
}

// strictlyEnough decodes and ignores unknown members.
func strictlyEnough(t *testing.T, text string, into any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		t.Fatal(err)
	}
}

// TestKubeconform validates every object with the schemas of each supported Kubernetes release.
func TestKubeconform(t *testing.T) {
	program := tool(t, "kubeconform")
	folders, err := filepath.Glob(filepath.Join(installed(t), "schemas", "v*-standalone-strict"))
	if err != nil || len(folders) == 0 {
		missing(t, "there are no schemas here")
	}
	dir := t.TempDir()
	for name, file := range valuesFiles(t) {
		write(t, filepath.Join(dir, name+".yaml"), render(t, chart, "--values", file))
	}
	injected, err := filepath.Glob(filepath.Join("testdata", "injected *.golden"))
	if err != nil || len(injected) == 0 {
		t.Fatalf("%d injected pods, %v", len(injected), err)
	}
	for i, file := range append(injected, filepath.Join("testdata", "parent.golden")) { // kubeconform reads only *.yaml
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, fmt.Sprintf("golden-%d.yaml", i)), string(text))
	}
	wrong := filepath.Join(t.TempDir(), "wrong.yaml")
	write(t, wrong, "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {port: 80}\n")
	for _, folder := range folders {
		version := regexp.MustCompile(`v([0-9.]+)-`).FindStringSubmatch(filepath.Base(folder))[1]
		t.Run(version, func(t *testing.T) {
			skipped := "PodMonitor,ServiceMonitor,PrometheusRule"
			if _, err := os.Stat(filepath.Join(folder, "mutatingadmissionpolicy-admissionregistration-v1.json")); err != nil {
				skipped += ",MutatingAdmissionPolicy,MutatingAdmissionPolicyBinding" // this release's schema refuses mode: inject
			}
			args := []string{
				"-strict", "-kubernetes-version", version, "-skip", skipped, "-schema-location",
				filepath.Dir(folder) + "/{{.NormalizedKubernetesVersion}}-standalone{{.StrictSuffix}}/{{.ResourceKind}}{{.KindSuffix}}.json",
			}
			if out, problems, err := run(t, program, append(args, dir)...); err != nil {
				t.Errorf("%v\n%s%s", err, out, problems)
			}
			if out, _, err := run(t, program, append(args, wrong)...); err == nil || !strings.Contains(out, "port") {
				t.Errorf("a wrong Service passes: %s", out)
			}
		})
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRefusals checks that each mistake in the values is refused with a clear message before anything is installed.
func TestRefusals(t *testing.T) {
	proxy := "{name: a, proxy: {listen: ':8080', upstream: 'http://agent:8000'}}"
	tail := "{name: b, tail: {url: 'http://agent:8000/events/{session}'}}"
	sources := "config: {sources: [" + proxy + "]}\n"
	nats := "store: jetstream, jetstream: {urls: ['nats://n:4222']}, authentication: {anonymous: anywhere}"
	gateway := "mode: gateway\nconfig: {stream: {listen: ':10478', " + nats + "}}\n"
	scaled := func(values string) string { return gateway + "gateway: {autoscaling: {enabled: true, " + values + "}}" }
	sidecar := "mode: library\nconfig: {sources: [" + proxy + "]}\n"
	for name, c := range map[string]struct{ values, want string }{
		"no source":              {"mode: standalone", "config.sources is empty: name at least one agent"},
		"no such API":            {"mode: inject\n" + sources, "Use mode: library (a chart of yours depends on this one and includes the sidecar) or mode: standalone"},
		"unknown mode":           {"mode: sidecar\n" + sources, "at '/mode': value must be one of 'standalone', 'library', 'inject', 'gateway'"},
		"unknown value":          {"replica: 2\n" + sources, "additional properties 'replica' not allowed"},
		"unknown key":            {"config: {sources: [{name: a, prxy: {}}]}", "additional properties 'prxy' not allowed"},
		"two kinds":              {"config: {sources: [{name: a, proxy: {listen: ':1', upstream: 'http://a'}, tail: {url: 'http://b'}}]}", "config.sources[0] (a) has both proxy and tail: configure two sources"},
		"no kind":                {"config: {sources: [{name: a}]}", "config.sources[0] (a) has neither proxy nor tail"},
		"no scheme":              {"config: {sources: [{name: a, proxy: {listen: ':1', upstream: 'a:80'}}]}", "at '/config/sources/0/proxy/upstream': 'a:80' does not match pattern '^https?://"},
		"unreachable":            {"config: {sources: [{name: a, proxy: {listen: '127.0.0.1:1', upstream: 'http://a'}}]}", `config.sources[0] (a): proxy.listen "127.0.0.1:1" can be reached only from inside the pod`},
		"any port":               {"config: {sources: [{name: a, proxy: {listen: ':0', upstream: 'http://a'}}]}", `proxy.listen ":0" picks a random port, which clients cannot know`},
		"itself":                 {"mode: library\nconfig: {sources: [{name: a, proxy: {listen: ':8080', upstream: 'http://localhost:8080'}}]}", "proxy.upstream http://localhost:8080 is Delegraph's own port"},
		"one port twice":         {sources + "admin: {port: 8080}", "port 8080 is used twice, by http and delegraph-admin"},
		"duration":               {"config: {sources: [" + proxy + "], runs: {idle_timeout: 5 minutes}}", "at '/config/runs/idle_timeout': '5 minutes' does not match pattern"},
		"policy":                 {"config: {sources: [" + proxy + "], stream: {policy: all}}", "value must be one of 'public', 'client'"},
		"port":                   {sources + "admin: {port: 99999}", "at '/admin/port': maximum: got 99,999, want 65,535"},
		"long port name":         {sources + "portName: much-too-long-a-name", "at '/portName': maxLength: got 20, want 12"},
		"port name of digits":    {sources + "portName: '80'", "at '/portName': '80' does not match pattern"},
		"name":                   {sources + "fullnameOverride: My_Agent", "at '/fullnameOverride': 'My_Agent' does not match pattern"},
		"one name twice":         {"config: {sources: [" + proxy + "," + strings.Replace(proxy, "8080", "8081", 1) + "]}", "config.sources[1] (a): another source has this name"},
		"no agent here":          {strings.Replace(sources, "//agent", "//127.0.0.1", 1), "config.sources[0] (a): proxy.upstream is in Delegraph's own pod, where no agent runs with mode: standalone"},
		"nothing to tail here":   {"config: {sources: [" + strings.Replace(tail, "//agent", "//localhost", 1) + "]}", "config.sources[0] (b): tail.url is in Delegraph's own pod"},
		"two that tail":          {"config: {sources: [" + proxy + "," + tail + "]}\nstandalone: {replicas: 2}", "standalone.replicas: each pod would subscribe to the same stream"},
		"no such port":           {strings.Replace(sources, "8080", "65536", 1), "port 65536 of http: the highest port is 65535"},
		"port of the Service":    {strings.Replace(sources, "]", ", {name: b, proxy: {listen: ':80', upstream: 'http://b'}}]", 1), "service.port: the Service would have port 80 twice, for http and http-2"},
		"port of the stream":     {strings.Replace(sources, "8080", "10478", 1), "port 10478 is used twice, by config.stream.listen and http"},
		"certificates":           {"config: {sources: [" + proxy + "], stream: {authentication: {client_certificates: true}}}", "config.stream.authentication.client_certificates: certificates need TLS"},
		"admin for the world":    {sources + "service: {type: LoadBalancer}\nserviceMonitor: {enabled: true}", "which service.type: LoadBalancer opens to the outside of the cluster; use podMonitor.enabled"},
		"two monitors":           {sources + "podMonitor: {enabled: true}\nserviceMonitor: {enabled: true}", "everything would be scraped and counted twice"},
		"unknown key below":      {sources + "standalone: {replica: 2}", "at '/standalone': additional properties 'replica' not allowed"},
		"endpoint":               {sources + "traces: {endpoint: 'otel:4317'}", "at '/traces/endpoint': 'otel:4317' does not match pattern"},
		"secret of two kinds":    {sources + "secrets: {a: {existingSecret: b, data: {c: d}}}", "secrets.a: set either existingSecret, the name of an existing secret, or data"},
		"secret of no kind":      {sources + "secrets: {a: {}}", "secrets.a: set either existingSecret, the name of an existing secret, or data"},
		"monitor without pods":   {sidecar + "serviceMonitor: {enabled: true}", "mode: library has no Service; use podMonitor.enabled"},
		"egress of an agent":     {sidecar + "networkPolicy: {enabled: true, egress: [{}]}", "networkPolicy.egress: with mode: library the pods belong to the agent"},
		"too short to drain":     {sources + "standalone: {terminationGracePeriodSeconds: 10}", "at '/standalone/terminationGracePeriodSeconds': minimum: got 10, want 16"},
		"label that opts out":    {sources + "inject: {label: 'false'}", `inject.label: "false" marks pods that must not get a sidecar`},
		"conflict":               {sources + "inject: {onConflict: deny}", "at '/inject/onConflict': value must be one of 'Deny', 'Warn', 'Skip'"},
		"gateway of an agent":    {strings.Replace(gateway, "config: {", "config: {sources: ["+proxy+"], ", 1), "config.sources: a gateway has no sources"},
		"gateway of memory":      {"mode: gateway\nconfig: {stream: {listen: ':10478', authentication: {anonymous: anywhere}}}", "config.stream.store: a gateway serves what a JetStream store holds"},
		"gateway to nobody":      {strings.Replace(gateway, ":10478", "127.0.0.1:10478", 1), "config.stream.listen: readers outside the pod must reach the gateway"},
		"gateway by default":     {strings.Replace(gateway, "listen: ':10478', ", "", 1), "config.stream.listen: readers outside the pod must reach the gateway"},
		"gateway with traces":    {gateway + "traces: {endpoint: 'http://otel:4317'}", "traces.endpoint: a gateway sees no runs"},
		"gateway without NATS":   {strings.Replace(gateway, "'nats://n:4222'", "", 1), "config.stream.jetstream.urls: no servers"},
		"shard without NATS":     {strings.Replace(gateway, "urls: ['nats://n:4222']", "shards: [{name: a}]", 1), "config.stream.jetstream.shards (a): no servers"},
		"move without a time":    {strings.Replace(gateway, "urls:", "shards: [{name: a}], previous: [a], urls:", 1), "config.stream.jetstream.move_at: set the time"},
		"shard without a name":   {strings.Replace(gateway, "urls:", "shards: [{gateway: 'https://a'}], urls:", 1), "missing property 'name'"},
		"who we are twice":       {strings.Replace(gateway, "urls:", "credentials_file: /a, nkey_file: /b, urls:", 1), "config.stream.jetstream: both credentials_file and nkey_file are set"},
		"half a certificate":     {strings.Replace(gateway, "urls:", "tls: {key_file: /a}, urls:", 1), "config.stream.jetstream.tls: a certificate needs its key"},
		"open gateway":           {strings.Replace(gateway, "anywhere", "loopback", 1), "config.stream.listen: readers are not authenticated"},
		"fewer than least":       {scaled("minReplicas: 3, maxReplicas: 2"), "gateway.autoscaling: minReplicas is more than maxReplicas"},
		"scaled by nothing":      {scaled("cpu: 0"), "gateway.autoscaling: no target"},
		"scaled by no request":   {scaled("cpu: 50") + "\nresources: {requests: {cpu: null}}", "gateway.autoscaling.cpu is a percentage of the pod's CPU request"},
		"more than there can be": {scaled("subscribers: 10000"), "gateway.autoscaling.subscribers: a pod accepts at most 10000 subscribers"},
		"store that is none":     {"config: {sources: [" + proxy + "], stream: {store: redis}}", "value must be one of 'memory', 'jetstream'"},
		"open stream":            {"config: {sources: [" + proxy + "], stream: {listen: ':10478'}}", "config.stream.listen: readers are not authenticated"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "values.yaml")
			write(t, file, c.values)
			_, problems, err := run(t, tool(t, "helm"), "template", "demo", chart, "--values", file)
			if err == nil || !strings.Contains(problems, c.want) {
				t.Errorf("refused with %v, %s; want %q", err, problems, c.want)
			}
		})
	}
	t.Run("secret that another chart must create", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "values.yaml")
		write(t, file, "mode: inject\n"+sources+"secrets: {a: {data: {b: c}}}")
		_, problems, err := run(t, tool(t, "helm"), "template", "demo", chart, "--values", file, "--api-versions", clusterAPIs)
		if want := "secrets.a: with mode: inject set existingSecret"; err == nil || !strings.Contains(problems, want) {
			t.Errorf("refused with %v, %s; want %q", err, problems, want)
		}
	})
}

// TestNotes checks the text after an installation. It is rendered as a file of the chart, because Helm shows it only when it
// installs.
func TestNotes(t *testing.T) {
	for _, mode := range []string{"standalone", "library", "inject", "gateway", "gateway-autoscaling"} {
		t.Run(mode, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "delegraph")
			if err := os.CopyFS(dir, os.DirFS(chart)); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(dir, "templates", "NOTES.txt"), filepath.Join(dir, "notes.txt")); err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(dir, "templates", "notes.yaml"), `notes: |-
  {{- tpl (.Files.Get "notes.txt") . | nindent 2 }}`)
			var shown struct{ Notes string }
			strictly(t, render(t, dir, "--values", valuesFiles(t)[mode], "--show-only", "templates/notes.yaml"), &shown)
			golden(t, filepath.Join("testdata", "notes "+mode+".golden"), shown.Notes+"\n")
		})
	}
}
