package repository_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

const composeFolder = "../../examples/compose"

// composition is what the tests read of a compose file.
type composition struct {
	Services map[string]struct {
		Image          string
		Ports, Volumes []string
		DependsOn      []string `yaml:"depends_on"`
		Environment    map[string]string
	}
}

func repositoryFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../..", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// program builds delegraph.
func program(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "delegraph")
	if out, err := exec.Command("go", "build", "-o", binary, "../../cmd/delegraph").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return binary
}

// imageArguments returns CMD of the Dockerfile.
func imageArguments(t *testing.T) (args []string) {
	t.Helper()
	found := regexp.MustCompile(`(?m)^CMD (.*)$`).FindStringSubmatch(repositoryFile(t, "Dockerfile"))
	if found == nil {
		t.Fatal("the Dockerfile has no CMD")
	}
	if err := json.Unmarshal([]byte(found[1]), &args); err != nil {
		t.Fatal(err)
	}
	return args
}

// TestImageAdminReachable starts the program with the image's arguments, except for the path and the port. It must
// reach the admin server at an address that is not loopback, as docker run -p does.
func TestImageAdminReachable(t *testing.T) {
	address := ""
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addresses {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			address = n.IP.String()
		}
	}
	if address == "" {
		t.Skip("this machine has only loopback addresses")
	}
	file := filepath.Join(t.TempDir(), "delegraph.yml")
	configuration := `{sources: [{name: a, proxy: {listen: "127.0.0.1:0", upstream: "http://127.0.0.1:1"}}], stream: {listen: ""}}`
	if err := os.WriteFile(file, []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(loopback.FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	args := imageArguments(t)
	for i := range args {
		args[i] = strings.NewReplacer("/etc/delegraph/delegraph.yml", file, ":10477", ":"+port).Replace(args[i])
	}
	running := exec.Command(program(t), args...)
	running.Env = []string{"OTEL_TRACES_EXPORTER=none"}
	harness.Start(t, running)
	url := "http://" + net.JoinHostPort(address, port) + "/-/healthy"
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		response, err := http.Get(url)
		if err == nil {
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
			err = fmt.Errorf("status %s", response.Status)
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: %v", url, err)
		}
	}
}

// TestComposeFile checks the compose file against the files that it mounts, the image and the chart.
func TestComposeFile(t *testing.T) {
	var c composition
	if err := yaml.Unmarshal([]byte(repositoryFile(t, "examples/compose/compose.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"agent", "delegraph", "jaeger", "prometheus"} {
		if _, ok := c.Services[name]; !ok {
			t.Errorf("there is no service %s", name)
		}
	}
	pinned := regexp.MustCompile(`:v?[0-9]+\.[0-9]+[0-9a-z.-]*$`)
	for name, service := range c.Services {
		if !pinned.MatchString(service.Image) {
			t.Errorf("%s: image %s has no version", name, service.Image)
		}
		for _, port := range service.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s: port %s is not published on loopback only", name, port)
			}
		}
		for _, volume := range service.Volumes {
			source, _, _ := strings.Cut(volume, ":")
			if info, err := os.Stat(filepath.Join(composeFolder, source)); err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(volume, ":ro") {
				t.Errorf("%s: volume %s is not an existing file, mounted read-only: %v", name, volume, err)
			}
		}
		for _, other := range service.DependsOn {
			if _, ok := c.Services[other]; !ok {
				t.Errorf("%s depends on %s, which is not a service", name, other)
			}
		}
	}
	var chart struct {
		AppVersion string `yaml:"appVersion"`
	}
	if err := yaml.Unmarshal([]byte(repositoryFile(t, "helm/delegraph/Chart.yaml")), &chart); err != nil {
		t.Fatal(err)
	}
	if want := "ghcr.io/delegraph/delegraph:" + chart.AppVersion; c.Services["delegraph"].Image != want {
		t.Errorf("the image is %s; the chart's is %s", c.Services["delegraph"].Image, want)
	}
	if out, err := exec.Command(program(t), "check", "--config.file="+filepath.Join(composeFolder, "delegraph.yml")).CombinedOutput(); err != nil {
		t.Errorf("check: %v\n%s", err, out)
	}
}

// TestComposeAddresses checks that the ports, files and hosts that the services of the compose file name are those of the others.
func TestComposeAddresses(t *testing.T) {
	var c composition
	var delegraph struct {
		Sources []struct {
			Proxy struct{ Listen, Upstream string }
		}
	}
	var prometheus struct {
		Scrapes []struct {
			Static []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
	}
	for file, into := range map[string]any{"compose.yaml": &c, "delegraph.yml": &delegraph, "prometheus.yml": &prometheus} {
		if err := yaml.Unmarshal([]byte(repositoryFile(t, "examples/compose/"+file)), into); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	arguments := strings.Join(imageArguments(t), " ")
	admin := regexp.MustCompile(`--web.listen-address=(:\d+)`).FindStringSubmatch(arguments)
	if admin == nil || len(delegraph.Sources) != 1 || len(prometheus.Scrapes) != 1 || len(prometheus.Scrapes[0].Static) != 1 {
		t.Fatalf("image arguments %q, %d sources, %d scrapes", arguments, len(delegraph.Sources), len(prometheus.Scrapes))
	}
	proxy, ours := delegraph.Sources[0].Proxy, c.Services["delegraph"]
	if want := []string{"127.0.0.1:8080" + proxy.Listen, "127.0.0.1" + admin[1] + admin[1]}; !slices.Equal(ours.Ports, want) {
		t.Errorf("delegraph publishes %q, want its proxy and its admin server, %q", ours.Ports, want)
	}
	if want := "--config.file=" + strings.Split(ours.Volumes[0], ":")[1]; !strings.Contains(arguments+" ", want+" ") {
		t.Errorf("the image reads %s, want %s", arguments, want)
	}
	if !strings.Contains(repositoryFile(t, "examples/compose/agent.py"), `(("", `+strings.TrimPrefix(proxy.Upstream, "http://agent:")+`), Agent)`) {
		t.Errorf("the agent does not listen on the port of %s", proxy.Upstream)
	}
	if endpoint := ours.Environment["OTEL_EXPORTER_OTLP_ENDPOINT"]; endpoint != "http://jaeger:4317" { // the port of OTLP over gRPC
		t.Errorf("spans go to %s", endpoint)
	}
	if got := prometheus.Scrapes[0].Static[0].Targets; !slices.Equal(got, []string{"delegraph" + admin[1]}) {
		t.Errorf("Prometheus scrapes %q, want the admin server, delegraph%s", got, admin[1])
	}
}

// TestComposePrometheus has promtool check the configuration with the rules at the place where the compose file mounts them.
func TestComposePrometheus(t *testing.T) {
	promtool := harness.Component(t, "prometheus", "promtool")
	folder := t.TempDir()
	for name, source := range map[string]string{"prometheus.yml": "examples/compose/prometheus.yml", "delegraph.yml": "dashboards/rules/delegraph.yml"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(repositoryFile(t, source)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.Command(promtool, "check", "config", filepath.Join(folder, "prometheus.yml")).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
