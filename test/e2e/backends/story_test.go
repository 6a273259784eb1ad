package backends_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/test/component"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// storytellers are the frameworks that tell one story, by the names of their sources. In each, the agent coordinator calls two tools at
// once, of which one fails, then transfers control to the agent expert, which answers. A transfer is the form of delegation that all
// three put on the wire: ADK's transfer_to_agent, a handoff of langgraph-swarm, and a handoff of the OpenAI Agents SDK. Of an agent
// that is called as a tool, only LangGraph shows the inside.
var storytellers = map[string]string{"adk": "adk-2", "langgraph": "langgraph-dev", "openai": "openai-agents"}

const story = `
invoke_agent coordinator
  chat scripted
  chat scripted
  execute_tool alerts: ERROR tool_error
  execute_tool transfer_to_agent
  execute_tool weather
  invoke_agent expert
    chat scripted
`

// untold are the attributes that not all of the three tell, with the reason.
var untold = map[string]string{
	"gen_ai.conversation.id":               "only ADK's request names a session; LangGraph's has no thread, and the Agents SDK's application has no place for one",
	"gen_ai.tool.call.id":                  "the model makes another one in each run",
	"gen_ai.response.finish_reasons":       "ADK says STOP for calls too, and the Agents SDK does not pass the reason on",
	"gen_ai.response.time_to_first_chunk":  "a duration",
	"gen_ai.usage.cache_read.input_tokens": "LangChain leaves the count out if the model does",
	"gen_ai.usage.reasoning.output_tokens": "ADK and LangChain leave the count out if the model does",
}

// untoldMetrics are the metrics whose series or values depend on how a framework tells, with the reason.
var untoldMetrics = map[string]string{
	"delegraph_events_total":                   "the frameworks send texts and states in different pieces",
	"delegraph_frames_total":                   "they send different frames",
	"delegraph_frame_bytes_total":              "the same",
	"delegraph_source_clock_offset_seconds":    "only ADK's frames have a time",
	"delegraph_source_event_lag_seconds_count": "the same",
	"delegraph_source_event_lag_seconds_sum":   "the same",
}

// TestOneStory plays recordings of three frameworks that tell one story. They have the same trace in Jaeger, and the same series in
// Prometheus.
func TestOneStory(t *testing.T) {
	agents := map[string]string{}
	for source, server := range storytellers {
		_, _, answer := readStory(t, server)
		agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			maps.Copy(w.Header(), answer.Header)
			_, _ = w.Write(answer.body)
		}))
		t.Cleanup(agent.Close)
		agents[source] = agent.URL
	}
	checkStory(t, agents)
}

// TestOneStoryLive is TestOneStory with the real servers.
func TestOneStoryLive(t *testing.T) {
	harness.Slow(t)
	home := harness.ServersHome(t)
	for _, server := range storytellers {
		if !harness.IsInstalled(t, home, server) {
			component.Missing(t, "no "+server+" in "+home+": run .ci/install/servers "+server)
		}
	}
	agents := map[string]string{}
	for source, server := range storytellers {
		agents[source] = harness.ServeReal(t, home, server)
	}
	_, _, err := harness.Request(http.MethodPost, agents["adk"]+"/apps/coordinator/users/user/sessions/s", "/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	checkStory(t, agents)
}

type storyAnswer struct {
	Header http.Header
	body   []byte
}

// readStory returns the recorded request of a server's story, and its answer.
func readStory(t *testing.T, server string) (request *http.Request, asked []byte, answer storyAnswer) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../agents/servers", server, "recordings", "story.http"))
	if err != nil {
		t.Fatal(err)
	}
	head, body, ok := bytes.Cut(text, []byte("\n\nHTTP/1.1 "))
	if !ok {
		t.Fatalf("the story of %s has no answer", server)
	}
	if request, err = http.ReadRequest(bufio.NewReader(bytes.NewReader(head))); err != nil {
		t.Fatal(err)
	}
	if asked, err = io.ReadAll(request.Body); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(io.MultiReader(strings.NewReader("HTTP/1.1 "), bytes.NewReader(body))), request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer.Header = response.Header
	if answer.body, err = io.ReadAll(response.Body); err != nil {
		t.Fatal(err)
	}
	return request, asked, answer
}

// checkStory asks each agent for its story through a proxy of its own and compares what Jaeger and Prometheus have of them.
func checkStory(t *testing.T, agents map[string]string) {
	jaeger := startJaeger(t)
	harness.Component(t, "prometheus", "prometheus")
	sources := slices.Sorted(maps.Keys(agents))
	configured := "sources:\n"
	traces := map[string]string{}
	for _, source := range sources {
		request, _, _ := readStory(t, storytellers[source])
		configured += fmt.Sprintf("  - {name: %s, proxy: {listen: \"127.0.0.1:0\", upstream: %q, paths: [%q]}, relay: verbatim}\n", source, agents[source], request.URL.Path)
	}
	service := harness.Launch(t, configured, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": jaeger.grpc})
	prometheus := harness.StartPrometheus(t, service.Admin, "")
	trees := map[string]string{}
	for i, source := range sources {
		request, asked, _ := readStory(t, storytellers[source])
		traces[source] = fmt.Sprintf("%032x", i+1)
		again, err := http.NewRequestWithContext(t.Context(), request.Method, "http://"+service.Proxies()[i].Addr+request.URL.RequestURI(), bytes.NewReader(asked))
		if err != nil {
			t.Fatal(err)
		}
		again.Header = request.Header
		again.Header.Set("Traceparent", "00-"+traces[source]+"-00000000000000aa-01")
		response, err := http.DefaultClient.Do(again)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		trace := jaeger.trace(t, traces[source], strings.Count(story, "\n"))
		trees[source] = trace.tree(true)
		if diff := cmp.Diff(story, trace.tree(false)); diff != "" {
			t.Errorf("the story as %s tells it:\n%s", source, diff)
		}
	}
	for _, source := range sources[1:] {
		if diff := cmp.Diff(trees[sources[0]], trees[source]); diff != "" {
			t.Errorf("the traces of %s (-) and %s (+):\n%s", sources[0], source, diff)
		}
	}
	series := map[string]map[string]string{}
	for _, source := range sources {
		harness.Await(t, func(ctx context.Context) (err error) {
			if series[source], err = seriesOf(ctx, prometheus, source); err == nil && series[source][`delegraph_runs_ended_total agent="coordinator",status="completed"`] != "1" {
				err = fmt.Errorf("the run of %s has not ended: %v", source, series[source])
			}
			return err
		})
	}
	for _, source := range sources[1:] {
		if diff := cmp.Diff(series[sources[0]], series[source]); diff != "" {
			t.Errorf("the series of %s (-) and %s (+):\n%s", sources[0], source, diff)
		}
	}
}

// tree returns the operations below the proxy's own span, with or without their attributes, siblings in the order of their names.
func (tr jaegerTrace) tree(attributes bool) string {
	var proxied string
	for _, s := range tr.Spans {
		if strings.HasPrefix(s.OperationName, "POST ") {
			proxied = s.SpanID
		}
	}
	var below func(parent, indent string) string
	below = func(parent, indent string) string {
		var all []string
		for _, s := range tr.Spans {
			if s.parent() != parent {
				continue
			}
			line := indent + s.OperationName
			if s.tag("otel.status_code") == "ERROR" {
				line += ": ERROR " + s.tag("error.type")
			}
			line += "\n"
			if attributes {
				line += s.attributes(indent)
			}
			all = append(all, line+below(s.SpanID, indent+"  "))
		}
		slices.Sort(all)
		return strings.Join(all, "")
	}
	return "\n" + below(proxied, "")
}

func (s jaegerSpan) attributes(indent string) string {
	var all []string
	for _, tag := range s.Tags {
		if _, known := untold[tag.Key]; !known && (strings.HasPrefix(tag.Key, "gen_ai.") || tag.Key == "span.kind") {
			all = append(all, fmt.Sprintf("%s    %s = %v\n", indent, tag.Key, tag.Value))
		}
	}
	slices.Sort(all)
	return strings.Join(all, "")
}

// seriesOf returns the series of a source, without the labels that name it and its dialect, and their values if they count what
// happened.
func seriesOf(ctx context.Context, prometheus *harness.PrometheusServer, source string) (map[string]string, error) {
	var data struct {
		Result []struct {
			Metric map[string]string
			Value  [2]any
		}
	}
	if err := prometheus.Get(ctx, "/api/v1/query", url.Values{"query": {fmt.Sprintf(`{job="classic",source=%q}`, source)}}, &data); err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, r := range data.Result {
		name, labels := r.Metric["__name__"], []string{}
		if _, known := untoldMetrics[name]; known || strings.HasSuffix(name, "_bucket") {
			continue
		}
		for _, label := range slices.Sorted(maps.Keys(r.Metric)) {
			if !slices.Contains([]string{"__name__", "source", "dialect", "job", "instance", "le"}, label) {
				labels = append(labels, fmt.Sprintf("%s=%q", label, r.Metric[label]))
			}
		}
		value := fmt.Sprint(r.Value[1])
		if strings.Contains(name, "_seconds_sum") || strings.Contains(name, "_bytes") || strings.HasSuffix(name, "_seconds") {
			value = "differs"
		}
		all[strings.TrimSpace(name+" "+strings.Join(labels, ","))] = value
	}
	return all, nil
}
