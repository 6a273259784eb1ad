package tests

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// TestGatewayStarts runs the program as the Deployment specifies, without a NATS server. The probes find it alive but not ready,
// the Service's port requires a token, the metrics for monitoring exist, and it stops on SIGTERM.
func TestGatewayStarts(t *testing.T) {
	dir := t.TempDir()
	program, tokens, config := filepath.Join(dir, "delegraph"), filepath.Join(dir, "tokens"), filepath.Join(dir, "delegraph.yml")
	build(t, program, "/", "dev")
	write(t, tokens, "0123456789abcdefghijklmnopqrstuv\n")
	rendered := render(t, chart, "--values", valuesFiles(t)["gateway"],
		"--set", "config.stream.jetstream.urls[0]=nats://127.0.0.1:1,config.stream.authentication.bearer_tokens_file="+tokens)
	write(t, config, strings.ReplaceAll(configuration(t, rendered), "listen: :10478", "listen: 127.0.0.1:0"))
	var deployment apps.Deployment
	strictly(t, only(t, rendered, "Deployment"), &deployment)
	container := deployment.Spec.Template.Spec.Containers[0]
	deployed := strings.NewReplacer("/etc/delegraph/delegraph.yml", config, "--web.listen-address=:10477", "--web.listen-address=127.0.0.1:0")
	command := exec.CommandContext(t.Context(), program, strings.Split(deployed.Replace(strings.Join(container.Args, "\n")), "\n")...)
	log, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	serving, ended := make(chan map[string]string, 1), make(chan error, 1)
	go func() {
		serving <- addresses(log)
		_, _ = io.Copy(io.Discard, log)
		ended <- command.Wait()
	}()
	at := <-serving

	url := func(server, path string) string { return "http://" + at[server] + path }
	for _, probe := range []*core.Probe{container.StartupProbe, container.LivenessProbe} {
		if err := answers(t, url("admin", probe.HTTPGet.Path), "", ended); err != nil {
			t.Fatalf("%s: %v", probe.HTTPGet.Path, err)
		}
	}
	for address, want := range map[string]int{
		url("admin", container.ReadinessProbe.HTTPGet.Path): http.StatusServiceUnavailable, url("stream", "/events"): http.StatusUnauthorized,
	} {
		resp, err := http.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %s; want %d", address, resp.Status, want)
		}
	}
	// Dashboards and alerts find instances by the first series, and an autoscaler uses the second.
	for _, series := range []string{"\ndelegraph_build_info{", "\ndelegraph_stream_subscribers 0\n", "\ndelegraph_stream_store_connected 0\n"} {
		if err := answers(t, url("admin", "/metrics"), series, ended); err != nil {
			t.Error(err)
		}
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// listening matches a log line.
var listening = regexp.MustCompile(`msg="Listening on" server=(\w+) address=(\S+)`)

// addresses reads the log until both servers listen.
func addresses(log io.Reader) map[string]string {
	at := map[string]string{}
	for lines := bufio.NewReader(log); len(at) < 2; {
		line, err := lines.ReadString('\n')
		if found := listening.FindStringSubmatch(line); found != nil {
			at[found[1]] = found[2]
		}
		if err != nil {
			return at
		}
	}
	return at
}

// TestGatewayObjects checks that all selectors match the gateway's pods, that only one object sets the number of replicas, and
// that the autoscaler's metric exists.
func TestGatewayObjects(t *testing.T) {
	for name, file := range valuesFiles(t) {
		if !strings.HasPrefix(name, "gateway") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			var deployment apps.Deployment
			var autoscaler autoscaling.HorizontalPodAutoscaler
			selectors := map[string]*meta.LabelSelector{}
			for _, m := range manifests(t, render(t, chart, "--values", file)) {
				switch m.kind {
				case "Deployment":
					strictly(t, m.text, &deployment)
				case "HorizontalPodAutoscaler":
					strictly(t, m.text, &autoscaler)
				case "PodDisruptionBudget":
					var budget policy.PodDisruptionBudget
					strictly(t, m.text, &budget)
					selectors[m.kind] = budget.Spec.Selector
				case "NetworkPolicy":
					var restricted networking.NetworkPolicy
					strictly(t, m.text, &restricted)
					selectors[m.kind] = &restricted.Spec.PodSelector
				case "Service":
					var service core.Service
					strictly(t, m.text, &service)
					selectors[m.kind] = &meta.LabelSelector{MatchLabels: service.Spec.Selector}
				}
			}
			for kind, selector := range selectors {
				if selector, err := meta.LabelSelectorAsSelector(selector); err != nil || !selector.Matches(labels.Set(deployment.Spec.Template.Labels)) {
					t.Errorf("%s of %v does not find the pods (%v)", kind, selector, err)
				}
			}
			scaled := name == "gateway-autoscaling"
			if (deployment.Spec.Replicas == nil) != scaled || (autoscaler.Spec.ScaleTargetRef.Name == deployment.Name) != scaled {
				t.Errorf("replicas %v beside an autoscaler of %q", deployment.Spec.Replicas, autoscaler.Spec.ScaleTargetRef.Name)
			}
			for _, metric := range autoscaler.Spec.Metrics {
				if metric.Pods != nil {
					checkMetric(t, metric.Pods.Metric.Name)
				}
			}
		})
	}
}

func checkMetric(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/reference/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	// The page names the type of histograms only, and each counter ends in _total.
	if !strings.Contains(string(text), "\n- `"+name+"`:") || strings.HasSuffix(name, "_total") {
		t.Errorf("%s is not a gauge without labels in docs/reference/metrics.md", name)
	}
}
