package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/delegraph/delegraph/dashboards/query"
	"github.com/delegraph/delegraph/test/component"
	"github.com/delegraph/delegraph/test/loopback"
	"github.com/delegraph/delegraph/test/subprocess"
)

// Component returns the path of a program that .ci/install/INSTALLER installs. Without it the test is skipped.
func Component(t *testing.T, installer, name string) string {
	t.Helper()
	if found, err := exec.LookPath(name); err == nil {
		return found
	}
	folder := os.Getenv("DELEGRAPH_" + strings.ToUpper(installer))
	if folder == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		folder = filepath.Join(cache, "delegraph", installer)
	}
	binary := filepath.Join(folder, "bin", name)
	if _, err := os.Stat(binary); err == nil {
		return binary
	}
	component.Missing(t, fmt.Sprintf("%s is neither on the PATH nor in %s: run .ci/install/%s", name, folder, installer))
	return ""
}

// PrometheusServer is a running Prometheus.
type PrometheusServer struct {
	URL string
	Log *LogBuffer
}

// StartPrometheus runs Prometheus until the test ends. It scrapes an admin server every second, as two jobs with the given labels:
// native gets protobuf, classic gets OpenMetrics text. Lines of the configuration may be added.
func StartPrometheus(t *testing.T, admin http.Handler, labels string, lines ...string) *PrometheusServer {
	t.Helper()
	binary := Component(t, "prometheus", "prometheus")
	native := httptest.NewServer(admin)
	t.Cleanup(native.Close)
	classic := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Accept", "application/openmetrics-text;version=1.0.0")
		admin.ServeHTTP(w, r)
	}))
	t.Cleanup(classic.Close)
	features, histograms := "exemplar-storage,native-histograms", ""
	if version, err := subprocess.CommandContext(t.Context(), binary, "--version").Output(); err != nil {
		t.Fatal(err)
	} else if !bytes.HasPrefix(version, []byte("prometheus, version 2.")) {
		features, histograms = "exemplar-storage", ", scrape_native_histograms: true"
	}
	configuration := fmt.Sprintf("global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s%s}\n%s\nscrape_configs:\n", histograms, strings.Join(lines, "\n"))
	for job, target := range map[string]*httptest.Server{"native": native, "classic": classic} {
		configuration += fmt.Sprintf("- {job_name: %s, static_configs: [{targets: [%q], labels: {%s}}]}\n", job, target.Listener.Addr(), labels)
	}
	folder, address := t.TempDir(), loopback.FreeAddress(t)
	file := filepath.Join(folder, "prometheus.yml")
	if err := os.WriteFile(file, []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &PrometheusServer{URL: "http://" + address, Log: &LogBuffer{}}
	command := subprocess.Command(binary, "--enable-feature="+features, "--config.file="+file,
		"--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.listen-address="+address)
	command.Stdout, command.Stderr = p.Log, p.Log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
	})
	p.Until(t, `sum by (job) (up)`, "job", map[string]float64{"native": 1, "classic": 1})
	return p
}

// Get gets a path of the API and decodes the data of the answer.
func (p *PrometheusServer) Get(ctx context.Context, path string, parameters url.Values, data any) error {
	if err := query.Fetch(ctx, p.URL+path+"?"+parameters.Encode(), data); err != nil {
		return fmt.Errorf("%w; Prometheus says %s", err, p.Log)
	}
	return nil
}

// Vector returns the result of a query, by the values of a label.
func (p *PrometheusServer) Vector(ctx context.Context, query, label string) (map[string]float64, error) {
	var data struct {
		Result []struct {
			Metric map[string]string
			Value  [2]any
		}
	}
	if err := p.Get(ctx, "/api/v1/query", url.Values{"query": {query}}, &data); err != nil {
		return nil, err
	}
	values := map[string]float64{}
	for _, r := range data.Result {
		n, err := strconv.ParseFloat(fmt.Sprint(r.Value[1]), 64)
		if err != nil {
			return nil, err
		}
		values[r.Metric[label]] = n
	}
	return values, nil
}

// Until waits until a query has a result.
func (p *PrometheusServer) Until(t *testing.T, query, label string, want map[string]float64) {
	t.Helper()
	var got map[string]float64
	Await(t, func(ctx context.Context) error {
		var err error
		if got, err = p.Vector(ctx, query, label); err == nil && !maps.Equal(got, want) {
			err = fmt.Errorf("%s = %v, want %v", query, got, want)
		}
		return err
	})
}

// Number returns the value of a query with a single result.
func (p *PrometheusServer) Number(t *testing.T, query string) (n float64) {
	t.Helper()
	Await(t, func(ctx context.Context) error {
		got, err := p.Vector(ctx, query, "")
		if err == nil && len(got) != 1 {
			err = fmt.Errorf("%s = %v, want one value", query, got)
		}
		n = got[""]
		return err
	})
	return n
}

// Exemplar is an exemplar of a series.
type Exemplar struct {
	Series, Labels map[string]string
	Value          float64
}

// Exemplars returns the exemplars of a query. It waits until there are some.
func (p *PrometheusServer) Exemplars(t *testing.T, query string) (all []Exemplar) {
	t.Helper()
	Await(t, func(ctx context.Context) error {
		var data []struct {
			SeriesLabels map[string]string
			Exemplars    []struct {
				Labels map[string]string
				Value  string
			}
		}
		all = nil
		period := url.Values{"query": {query}, "start": {strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10)}, "end": {strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)}}
		if err := p.Get(ctx, "/api/v1/query_exemplars", period, &data); err != nil {
			return err
		}
		for _, series := range data {
			for _, e := range series.Exemplars {
				value, err := strconv.ParseFloat(e.Value, 64)
				if err != nil {
					return err
				}
				all = append(all, Exemplar{series.SeriesLabels, e.Labels, value})
			}
		}
		if len(all) == 0 {
			return errors.New("no exemplars")
		}
		return nil
	})
	return all
}
