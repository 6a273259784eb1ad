package formats_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/stream/format"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/command"
	"github.com/delegraph/delegraph/internal/replay"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// writes returns a Looopy stream with one task that writes artifacts. Each argument is an event's name and its members.
func writes(events ...string) string {
	all := "event: task-created\ndata: {\"taskId\":\"t\",\"initiator\":\"user\"}\n\n"
	for _, e := range events {
		name, members, _ := strings.Cut(e, " ")
		all += "event: " + name + "\ndata: {\"taskId\":\"t\"," + members + "}\n\n"
	}
	return all + "event: task-complete\ndata: {\"taskId\":\"t\",\"content\":\"Done\"}\n\n"
}

// pieces returns an A2A 1.0 stream with one task that updates the artifact "f". Each argument has members of the update and the
// parts of the artifact.
func pieces(updates ...[2]string) string {
	all := `data: {"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_SUBMITTED"}}}` + "\n\n"
	for _, u := range updates {
		all += `data: {"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"f","name":"n","parts":[` + u[1] + `]}` + u[0] + "}}\n\n"
	}
	return all + `data: {"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}` + "\n\n"
}

const goesOn, isLast = `,"append":true`, `,"append":true,"lastChunk":true`

// huge is the content of a file that is almost as large as a frame may be.
var huge = bytes.Repeat([]byte("artifact\x00\xff"), 600_000)

// written has streams that write artifacts, and what readers of each format have at the end: for A2A by artifact, for AG-UI as
// the contents of activities.
var written = map[string]struct {
	stream, a2a, agui string
}{
	"a file of text, closed without a number of its own": {
		writes(`file-write "artifactId":"f","data":"one \"☃\"","index":0,"name":"a.md","mimeType":"text/markdown"`,
			`file-write "artifactId":"f","data":" two","index":1`, `file-write "artifactId":"f","data":"","index":1,"complete":true`),
		`f "a.md" "one \"☃\" two" [a.md text/markdown,  ] closed`,
		`[{text, a.md, text/markdown: "one \"☃\""} {text: " two"} {text: ""}] complete`,
	},
	"an empty file": {
		writes(`file-write "artifactId":"f","data":"","index":0,"complete":true,"name":"empty"`),
		`f "empty" "" closed`, `[{text, empty: ""}] complete`,
	},
	"base64, of any alphabet": {
		writes(`file-write "artifactId":"f","data":"aGVs\nbG8=","index":0,"encoding":"base64"`, `file-write "artifactId":"f","data":"_-8=","index":1,"complete":true`, `file-write "artifactId":"g","data":"_-8","index":0,"complete":true,"encoding":"base64"`),
		`f "" "hello\xff\xef" [ ,  ] closed; g "" "\xff\xef" [ ] closed`, `[{bytes: "aGVs\nbG8="} {bytes: "_-8="}] complete; [{bytes: "_-8"}] complete`,
	},
	"base64 that is cut anywhere": {
		writes(`file-write "artifactId":"f","data":"aGVsb","index":0,"encoding":"base64"`, `file-write "artifactId":"f","data":"G8=","index":1,"complete":true`),
		`f "" "" [map[kind:fragment value:aGVsb] map[kind:fragment value:G8=]] closed`, `[{fragment: "aGVsb"} {fragment: "G8="}] complete`,
	},
	"a huge file": {
		writes(`file-write "artifactId":"f","data":"` + base64.StdEncoding.EncodeToString(huge) + `","index":0,"complete":true,"encoding":"base64"`),
		fmt.Sprintf(`f "" %d bytes [ ] closed`, len(huge)), fmt.Sprintf(`[{bytes: %d bytes}] complete`, len(huge)/3*4),
	},
	"hostile names": {
		writes(`file-write "artifactId":"\u0000plan","data":"x","index":0,"name":"../../etc/passwd\u0000<script>\u2028","mimeType":"a\r\nb: c"`),
		`\x00plan "../../etc/passwd\x00<script>\u2028" "x" [../../etc/passwd\x00<script>\u2028 a\r\nb: c]`,
		`[{text, ../../etc/passwd\x00<script>\u2028, a\r\nb: c: "x"}]`,
	},
	"data, written anew": {
		writes(`data-write "artifactId":"d","name":"n","data":{"a":1}`, `data-write "artifactId":"d","data":{"a":2}`),
		`d "" "" [map[a:2]] closed`, `[{data: {"a":2}}] complete`,
	},
	"data of any sort": {
		writes(`data-write "artifactId":"a","data":[1,{"x":null}]`, `data-write "artifactId":"b","data":"s"`, `data-write "artifactId":"c","data":false`, `data-write "artifactId":"d","data":{}`),
		`a "" "" [[1 map[x:<nil>]]] closed; b "" "" [s] closed; c "" "" [false] closed; d "" "" [map[]] closed`,
		`[{data: [1,{"x":null}]}] complete; [{data: "s"}] complete; [{data: false}] complete; [{data: {}}] complete`,
	},
	"rows": {
		writes(`dataset-write "artifactId":"s","name":"n","rows":[{"a":1}],"schema":{"type":"object"},"index":0`, `dataset-write "artifactId":"s","rows":[],"index":0,"complete":true`),
		`s "n" "" [map[rows:[map[a:1]] schema:map[type:object]] map[rows:[]]] closed`,
		`[{rows: [{"a":1}] of {"type":"object"}} {rows: []}] complete`,
	},
	"what is no base64": {
		writes(`file-write "artifactId":"f","data":"****","index":0,"complete":true,"encoding":"base64"`),
		`f "" "" [map[kind:bytes value:****]] closed`, `[{bytes: "****"}] complete`,
	},
	"what is not said": {
		writes(`file-write "artifactId":"f","index":0`, `dataset-write "artifactId":"s","index":0`, `data-write "artifactId":"d","data":null`),
		`d "" "" [map[append:false bytes:4 complete:true id:d kind:data]] closed; f "" "" [map[append:false complete:false id:f index:0 kind:file]]; s "" "" [map[append:false complete:false id:s index:0 kind:dataset]]`,
		`[]; []; [] complete`,
	},
	"more parts than are shown": {
		pieces([2]string{isLast, strings.Repeat(`{"url":"u"},`, event.MaxPieces+1) + `{"url":"u"}`}),
		`f "n" "" at 1024 places [map[append:true complete:true id:f kind:file more:2 name:n]] closed`, `[1024 contents] complete`,
	},
	"parts of every sort": {
		pieces([2]string{"", `{"raw":"aGk=","filename":"a","mediaType":"m/t"},{"url":"https://x.test/?q=<&>","filename":"b"},{"data":[1]}`},
			[2]string{goesOn, `{"file":{"bytes":"IQ==","name":"c"}}`}, [2]string{isLast, `{"raw":""}`}),
		`f "n" "hi!" [a m/t, c ] at [b https://x.test/?q=<&>] [[1] map[append:true bytes:0 complete:true id:f kind:file name:n]] closed`,
		`[{bytes, a, m/t: "aGk="} {uri, b: "https://x.test/?q=<&>"} {data: [1]} {bytes, c: "IQ=="}] complete`,
	},
}

// TestArtifactsInA2A checks that the official client puts artifacts together, in both versions alike.
func TestArtifactsInA2A(t *testing.T) {
	client := newA2AClient(t, a2aProgram(t))
	var stream []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(stream)
	}))
	t.Cleanup(server.Close)
	for name, c := range written {
		for _, as := range []format.Format{format.A2A, format.A2A03} {
			stream = harness.ReplayAs(t, "client", string(as), capture(t, c.stream))
			got := client.read(server.URL, versions[as], "")
			var all []string
			for _, id := range slices.Sorted(maps.Keys(got.Held)) {
				if held := got.Held[id]; !strings.HasPrefix(id, replay.Epoch) { // not the answer's text
					all = append(all, escape(id)+" "+held.String())
				}
			}
			if said := strings.Join(all, "; "); got.Fault+got.Loose != "" || said != c.a2a {
				t.Errorf("%s, %s: %s\n%s, want\n%s", name, as, got.Fault, said, c.a2a)
			}
		}
	}
}

// String describes an artifact.
func (a heldArtifact) String() string {
	all := fmt.Sprintf("%q %q", a.Name, a.Bytes)
	if bytes.Equal(a.Bytes, huge) {
		all = fmt.Sprintf("%q %d bytes", a.Name, len(huge))
	}
	if len(a.Files) > 0 {
		all += " [" + escape(strings.Join(a.Files, ", ")) + "]"
	}
	if len(a.URLs) > 10 {
		all += fmt.Sprintf(" at %d places", len(a.URLs))
	} else if len(a.URLs) > 0 {
		all += fmt.Sprintf(" at %v", a.URLs)
	}
	if len(a.Data) > 0 {
		all += fmt.Sprintf(" %v", a.Data)
	}
	if a.Closed {
		all += " closed"
	}
	return all
}

// escape formats text without quotes and escapes what cannot be printed.
func escape(s string) string {
	quoted := fmt.Sprintf("%q", s)
	return quoted[1 : len(quoted)-1]
}

// TestArtifactsInAGUI checks that the project's client puts together artifacts whose chunks come as deltas.
func TestArtifactsInAGUI(t *testing.T) {
	p := newPlayer(t)
	for name, c := range written {
		said := p.file(harness.ReplayAs(t, "client", "agui", capture(t, c.stream)))
		var all []string
		for _, activity := range said.Activities {
			all = append(all, activityOf(t, activity))
		}
		if got := strings.Join(all, "; "); said.Fault != "" || got != c.agui {
			t.Errorf("%s: %s\n%s, want\n%s", name, said.Fault, got, c.agui)
		}
	}
}

// activityOf describes an artifact.
func activityOf(t *testing.T, activity map[string]any) string {
	var all []string
	contents, _ := activity["contents"].([]any)
	for _, content := range contents {
		c := content.(map[string]any)
		head := fmt.Sprint(c["kind"])
		for _, more := range []string{"name", "media_type"} {
			if s, is := c[more].(string); is {
				head += ", " + escape(s)
			}
		}
		var value strings.Builder
		lines := json.NewEncoder(&value)
		lines.SetEscapeHTML(false)
		if err := lines.Encode(c["value"]); err != nil {
			t.Fatal(err)
		}
		shown := strings.TrimSpace(value.String())
		if s, is := c["value"].(string); is && len(s) > 1000 {
			shown = fmt.Sprintf("%d bytes", len(s))
		}
		if schema, is := c["schema"]; is {
			of, err := json.Marshal(schema)
			if err != nil {
				t.Fatal(err)
			}
			shown += " of " + string(of)
		}
		all = append(all, "{"+head+": "+shown+"}")
	}
	if len(all) > 10 {
		all = []string{fmt.Sprintf("%d contents", len(all))}
	}
	if activity["complete"] == true {
		return fmt.Sprint(all) + " complete"
	}
	return fmt.Sprint(all)
}

// TestArtifactsForThePublic checks that no content of artifacts is in the public stream of any format.
func TestArtifactsForThePublic(t *testing.T) {
	const secret = "hunter2"
	encoded := base64.StdEncoding.EncodeToString([]byte(secret))
	for name, stream := range map[string]string{
		"looopy": writes(`file-write "artifactId":"f","name":"a.txt","data":"`+secret+`","index":0,"complete":true`, `data-write "artifactId":"d","data":{"x":"`+secret+`"}`,
			`dataset-write "artifactId":"s","rows":[{"x":"`+secret+`"}],"schema":{"x":"`+secret+`"},"index":0`),
		"a2a": pieces([2]string{"", `{"raw":"` + encoded + `","filename":"a.txt"},{"data":{"x":"` + secret + `"}},{"url":"https://x.test/` + secret + `"},{"text":"said"}`}),
	} {
		for _, as := range append(format.Formats(), "native") {
			got := string(harness.ReplayAs(t, "public", string(as), capture(t, stream)))
			if strings.Contains(got, secret) || strings.Contains(got, encoded) {
				t.Errorf("%s, %s: the content is in\n%s", name, as, got)
			}
			if !strings.Contains(got, "a.txt") && name == "looopy" {
				t.Errorf("%s, %s: the name is missing in\n%s", name, as, got)
			}
			if client := string(harness.ReplayAs(t, "client", string(as), capture(t, stream))); !strings.Contains(client, secret) {
				t.Errorf("%s, %s: the content is missing for the agent's own client in\n%s", name, as, client)
			}
		}
	}
}

// capture returns a file with a stream.
func capture(t *testing.T, stream string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "made.sse")
	if err := os.WriteFile(name, []byte(stream), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestArtifactsAreNoContent checks that no span, metric or report has the content of artifacts, even if content is configured,
// because there is no attribute for it.
func TestArtifactsAreNoContent(t *testing.T) {
	const secret = "hunter2"
	stream := writes(`file-write "artifactId":"f","name":"a.txt","mimeType":"`+secret+`","data":"`+secret+`","index":0`, `data-write "artifactId":"d","data":{"x":"`+secret+`"}`,
		`dataset-write "artifactId":"s","rows":[{"x":"`+secret+`"}],"schema":{"x":"`+secret+`"},"index":0`)
	c := config.Default()
	c.Traces.Content = config.ContentAll
	registry, recorder := prometheus.NewRegistry(), tracetest.NewSpanRecorder()
	recent := recent.New(10, 1<<20)
	sink := exporter.New(metrics.New(registry, settings.Metrics(c, conventions.Released())), settings.Tracker(c, func(*tracker.Run) bool { return true }), nil,
		spans.NewObserver(spans.NewProvider(sdktrace.AlwaysSample(), recorder, resource.Empty()), conventions.Released(), ""), recent)
	in := collector.Input{Reader: strings.NewReader(stream), ReceivedAt: harness.ReceiveClock}
	if err := collector.New(collector.Dialects(), settings.Collector(c), sink).Observe(harness.ProxyStream(), in, ""); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	told := fmt.Sprint(families)
	for _, report := range recent.Reports() {
		told += fmt.Sprintf("%+v", report)
	}
	for _, span := range recorder.Ended() {
		told += fmt.Sprint(span.Name(), span.Attributes(), span.Events(), span.Links(), span.Status())
	}
	for _, as := range []string{"text", "json", "otlp", "metrics"} {
		var out, errs bytes.Buffer
		if err := command.Run(t.Context(), []string{"replay", "--format=" + as, capture(t, stream)}, &out, &errs); err != nil {
			t.Fatal(err)
		}
		told += out.String() + errs.String()
	}
	if strings.Contains(told, secret) || !strings.Contains(told, "a.txt") {
		t.Errorf("content of artifacts is reported, or the writes are missing: %s", told)
	}
}
