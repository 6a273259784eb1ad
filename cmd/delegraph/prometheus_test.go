package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/dashboards/query"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/subprocess"
)

// TestPromtool has promtool judge the metrics after every recorded run, after streams that cannot be read and after requests
// that nobody answered.
func TestPromtool(t *testing.T) {
	promtool := component(t, "prometheus", "promtool")
	agent := newRecordedAgent(t)
	agent.fault = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\n\n"+callFrame+"data: {\"a\":1,\"a\":2}\n\ndata: "+strings.Repeat("a", 2<<20)+"\n\ndata: \xff\n\ndata: cut")
	}
	car := launch(t, fmt.Sprintf(verbatim, agent.URL)+"metrics: {max_label_values: 3}\nlimits: {frame: 1MiB}", newBackend(t).environment(nil))
	for _, name := range append(agent.names(), "fault") {
		post(t, car.address(), adkserver.RunRequest("u", "s", name, true), nil)
	}
	agent.Close()
	post(t, car.address(), adkserver.RunRequest("u", "s", "adk-go/plain", true), nil)
	car.Wait()

	check := func(page io.Reader) (string, error) {
		command := subprocess.CommandContext(t.Context(), promtool, "check", "metrics")
		command.Stdin = page
		said, err := command.CombinedOutput()
		return string(said), err
	}
	if said, err := check(strings.NewReader("# TYPE a counter\na 1\n")); err == nil || said == "" {
		t.Fatalf("promtool finds nothing wrong where something is: %s", said)
	}
	w := httptest.NewRecorder()
	car.admin.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if page := w.Body.String(); !strings.Contains(page, `status="completed"`) || !strings.Contains(page, `status="failed"`) || !strings.Contains(page, `"_other"`) {
		t.Errorf("the metrics hold too little:\n%s", page)
	}
	if said, err := check(w.Body); err != nil || said != "" {
		t.Errorf("%v: %s", err, said)
	}
}

// TestPrometheus has a real server scrape the sidecar while runs go through it, as protobuf with native histograms and as
// OpenMetrics text, and holds the answers to queries against the runs' own reports.
func TestPrometheus(t *testing.T) {
	binary := component(t, "prometheus", "prometheus")
	agent := newRecordedAgent(t)
	agent.fault = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\n\n")
	}
	car := launch(t, fmt.Sprintf(verbatim, agent.URL), newBackend(t).environment(nil))
	server := startPrometheus(t, binary, car)

	driven := []string{"adk-go/transfer", "adk-go/transfer", "adk-go/parallel_tools", "adk-go/tool_error", "adk-go/plain", "adk-go/model_429", "adk-js/plain", "adk-python/parallel_tools"}
	for _, name := range driven {
		ask200(t, car, adkserver.RunRequest("u", "s", name, true))
	}
	want := tally(t, car.Recent.Reports())
	for _, job := range []string{"native", "classic"} {
		query := func(format string) string { return strings.ReplaceAll(format, "JOB", `job="`+job+`"`) }
		server.until(t, query(`sum by (status) (delegraph_runs_ended_total{JOB}) > 0`), "status", want.statuses)
		server.until(t, query(`sum by (tool) (delegraph_tool_calls_total{JOB})`), "tool", want.tools)
		server.until(t, query(`sum by (tool) (delegraph_tool_call_failures_total{JOB}) > 0`), "tool", want.failures)
		server.until(t, query(`sum by (to_agent) (delegraph_transfers_total{JOB})`), "to_agent", want.transfers)
		server.until(t, query(`sum by (source) (delegraph_runs_started_total{JOB} - delegraph_runs_open{JOB})`), "source", map[string]float64{"fire-briefing": float64(len(driven))})
		server.until(t, query(`delegraph_source_up{JOB}`), "source", map[string]float64{"fire-briefing": 1})
	}
	server.until(t, `sum by (gen_ai_token_type) (gen_ai_client_token_usage_sum{job="classic"})`, "gen_ai_token_type", want.tokens)
	server.until(t, `histogram_sum(sum by (gen_ai_token_type) (gen_ai_client_token_usage{job="native"}))`, "gen_ai_token_type", want.tokens)

	longest := want.longest.Seconds()
	exact := server.number(t, `histogram_quantile(1, sum(gen_ai_invoke_agent_duration_seconds{job="native"}))`)
	if exact < longest || exact > longest*1.1 {
		t.Errorf("the longest agent took %v s, by the native histogram %v s", longest, exact)
	}
	if rough := server.number(t, `histogram_quantile(1, sum by (le) (gen_ai_invoke_agent_duration_seconds_bucket{job="classic"}))`); rough < longest || rough > max(0.1, 2*longest) {
		t.Errorf("the longest agent took %v s, by the classic histogram %v s", longest, rough)
	}
	server.until(t, `sum by (source) (rate(delegraph_parse_errors_total{job="native"}[1m]))`, "source", map[string]float64{"fire-briefing": 0})
	ask200(t, car, adkserver.RunRequest("u", "s", "fault", true))
	server.until(t, `sum by (reason) (increase(delegraph_parse_errors_total{job="native"}[1m])) > bool 0 == 1`, "reason", map[string]float64{"syntax": 1})
}

// totals are what queries should answer.
type totals struct {
	statuses, tools, failures, transfers, tokens map[string]float64
	longest                                      time.Duration // of an agent
}

func tally(t *testing.T, runs []tracker.Report) totals {
	t.Helper()
	all := totals{map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}, map[string]float64{}, 0}
	for _, r := range runs {
		all.statuses[string(r.Status)]++
		for _, x := range r.Transfers {
			all.transfers[x.To]++
		}
		if r.Usage.Input != nil {
			all.tokens["input"] += float64(*r.Usage.Input)
			all.tokens["output"] += float64(*r.Usage.Output)
		}
		for _, op := range r.Operations {
			switch op.Kind {
			case tracker.ExecuteTool:
				all.tools[text(op.Name)]++
				if op.Status == tracker.Error {
					all.failures[text(op.Name)]++
				}
			case tracker.InvokeAgent:
				started, err := time.Parse(time.RFC3339Nano, text(op.Started))
				ended, fault := time.Parse(time.RFC3339Nano, text(op.Ended))
				if err != nil || fault != nil {
					t.Fatal(err, fault)
				}
				all.longest = max(all.longest, ended.Sub(started))
			}
		}
	}
	if len(all.statuses) < 2 || len(all.tools) < 2 || len(all.failures) < 1 || len(all.transfers) < 1 || len(all.tokens) < 2 {
		t.Fatalf("the runs show too little: %+v", all)
	}
	return all
}

// component is the path of a binary that .ci/install/<installer> brings.
func component(t *testing.T, installer, name string) string {
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
	sentence := fmt.Sprintf("%s is neither on the PATH nor in %s: run .ci/install/%s", name, folder, installer)
	if os.Getenv("DELEGRAPH_REQUIRE") == "all" {
		t.Fatal(sentence)
	}
	t.Skip(sentence)
	return ""
}

// prometheusServer is a running one.
type prometheusServer struct {
	url string
	log *journal
}

// startPrometheus scrapes the sidecar every second until the test ends: the job native gets protobuf, the job classic
// OpenMetrics text.
func startPrometheus(t *testing.T, binary string, car *running) *prometheusServer {
	t.Helper()
	native := httptest.NewServer(car.admin)
	t.Cleanup(native.Close)
	classic := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Set("Accept", "application/openmetrics-text;version=1.0.0")
		car.admin.ServeHTTP(w, r)
	}))
	t.Cleanup(classic.Close)
	folder := t.TempDir()
	flags := []string{"--enable-feature=exemplar-storage,native-histograms"}
	global := "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
	if version, err := subprocess.CommandContext(t.Context(), binary, "--version").Output(); err != nil {
		t.Fatal(err)
	} else if !bytes.HasPrefix(version, []byte("prometheus, version 2.")) {
		flags = []string{"--enable-feature=exemplar-storage"}
		global = "global: {scrape_interval: 1s, scrape_timeout: 1s, scrape_native_histograms: true}\n"
	}
	configured := global + "scrape_configs:\n"
	for job, target := range map[string]*httptest.Server{"native": native, "classic": classic} {
		configured += fmt.Sprintf("- {job_name: %s, static_configs: [{targets: [%q]}]}\n", job, target.Listener.Addr())
	}
	file := filepath.Join(folder, "prometheus.yml")
	if err := os.WriteFile(file, []byte(configured), 0o600); err != nil {
		t.Fatal(err)
	}
	free := listen(t)
	free.Close()
	address := free.Addr().String()
	command := subprocess.Command(binary, append(flags, "--config.file="+file, "--storage.tsdb.path="+filepath.Join(folder, "data"), "--web.listen-address="+address)...)
	server := &prometheusServer{url: "http://" + address, log: &journal{}}
	command.Stdout, command.Stderr = server.log, server.log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = command.Process.Signal(syscall.SIGTERM)
		_ = command.Wait()
	})
	server.until(t, `sum by (job) (up)`, "job", map[string]float64{"native": 1, "classic": 1})
	return server
}

// get asks the API for what is at path, and unpacks its data.
func (p *prometheusServer) get(ctx context.Context, path string, parameters url.Values, data any) error {
	if err := query.Fetch(ctx, p.url+path+"?"+parameters.Encode(), data); err != nil {
		return fmt.Errorf("%w; Prometheus says %s", err, p.log)
	}
	return nil
}

// vector answers a query, by one of its labels.
func (p *prometheusServer) vector(ctx context.Context, query, label string) (map[string]float64, error) {
	var data struct {
		Result []struct {
			Metric map[string]string
			Value  [2]any
		}
	}
	if err := p.get(ctx, "/api/v1/query", url.Values{"query": {query}}, &data); err != nil {
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

// until waits for a query to have the answer.
func (p *prometheusServer) until(t *testing.T, query, label string, want map[string]float64) {
	t.Helper()
	var got map[string]float64
	await(t, func(ctx context.Context) error {
		var err error
		if got, err = p.vector(ctx, query, label); err == nil && !maps.Equal(got, want) {
			err = fmt.Errorf("%s is %v, not %v", query, got, want)
		}
		return err
	})
}

// number is the only value of an answer.
func (p *prometheusServer) number(t *testing.T, query string) (n float64) {
	t.Helper()
	await(t, func(ctx context.Context) error {
		got, err := p.vector(ctx, query, "")
		if err == nil && len(got) != 1 {
			err = fmt.Errorf("%s is %v", query, got)
		}
		n = got[""]
		return err
	})
	return n
}

// exemplar is one of a series.
type exemplar struct {
	series, labels map[string]string
	value          float64
}

func (p *prometheusServer) exemplars(t *testing.T, query string) (all []exemplar) {
	t.Helper()
	await(t, func(ctx context.Context) error {
		var data []struct {
			SeriesLabels map[string]string
			Exemplars    []struct {
				Labels map[string]string
				Value  string
			}
		}
		all = nil
		period := url.Values{"query": {query}, "start": {strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10)}, "end": {strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)}}
		if err := p.get(ctx, "/api/v1/query_exemplars", period, &data); err != nil {
			return err
		}
		for _, series := range data {
			for _, e := range series.Exemplars {
				value, err := strconv.ParseFloat(e.Value, 64)
				if err != nil {
					return err
				}
				all = append(all, exemplar{series.SeriesLabels, e.Labels, value})
			}
		}
		if len(all) == 0 {
			return errors.New("no exemplars")
		}
		return nil
	})
	return all
}
