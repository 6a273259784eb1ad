package adk

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// headersOf decodes frames. It returns a line for each frame with everything except its facts.
func headersOf(s *event.Stream, frames ...string) []string {
	lines := strings.Split(strings.TrimSuffix(dialecttest.Facts(Dialect{}, s, encode(frames...)), "\n"), "\n")
	return slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, " ") })
}

func value(t testing.TB, data string) strictjson.Value {
	t.Helper()
	var doc strictjson.Doc
	if err := doc.Parse([]byte(data), 128); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return doc.Root()
}

// TestDetect checks how sure Detect is of single frames.
func TestDetect(t *testing.T) {
	for data, want := range map[string]dialect.Match{
		`{"invocationId":"e-1","author":"a"}`:                                 dialect.Sure,
		`{"invocation_id":"","author":"user"}`:                                dialect.Sure,
		`{"invocationId":"e-1","actions":{}}`:                                 dialect.Sure,
		`{"ui_protocol":"adk","event":{"invocation_id":"e-1","author":"a"}}`:  dialect.Sure,
		`{"invocationId":"e-1","author":"a","error":"x"}`:                     dialect.Sure,
		`{"author":"a","content":{}}`:                                         dialect.Maybe,
		`{"author":"a","actions":{}}`:                                         dialect.Maybe,
		`{"error":"boom"}`:                                                    dialect.Maybe,
		`{"error":"boom","error_details":{}}`:                                 dialect.Maybe,
		`{"error": "no "x" here"}`:                                            dialect.Maybe,
		`{"error": "cut`:                                                      dialect.Maybe,
		`{"invocationId":"e-1"}`:                                              dialect.No,
		`{"invocationId":7,"author":"a"}`:                                     dialect.No,
		`{"author":"a"}`:                                                      dialect.No,
		`{"author":"a","content":[]}`:                                         dialect.No,
		`{"error":null}`:                                                      dialect.No,
		`{"error":"x","author":"a"}`:                                          dialect.No,
		`{"event":{"invocationId":"e-1","author":"a"}}`:                       dialect.No,
		`{"type":"RAW","event":{"invocationId":"e-1","author":"a"}}`:          dialect.No,
		`{"ui_protocol":"ag_ui","event":{"type":"RUN_STARTED","runId":"r"}}`:  dialect.No,
		`{"kind":"message","taskId":"t","message":{"role":"user"}}`:           dialect.No,
		`{"jsonrpc":"2.0","id":1,"result":{"kind":"task"}}`:                   dialect.No,
		`{"v":2,"type":"start","id":"1","ts":"2026-01-01T00:00:00Z","md":{}}`: dialect.No,
		`[{"invocationId":"e-1","author":"a"}]`:                               dialect.No,
		`{"invocationId":"e-1","author":"a"} x`:                               dialect.No,
		`{"invocationId":"e-1","author":"a","AUTHOR":"b"}`:                    dialect.No,
		`a plain text that begins with {"error": "`:                           dialect.No,
	} {
		f := dialect.Frame{Frame: sse.Frame{Data: []byte(data)}}
		var doc strictjson.Doc
		if doc.Parse(f.Data, 128) == nil {
			f.JSON = doc.Root()
		}
		if got := (Dialect{}).Detect(f); got != want {
			t.Errorf("Detect(%s) = %d, want %d", data, got, want)
		}
	}
}

// TestIdentify checks the spellings and limits of a request's names and answers.
func TestIdentify(t *testing.T) {
	const long = dialect.MaxName + 1
	many := strings.Repeat(`{"functionResponse":{"id":"q"}},`, wire.MaxAnswers) + `{"functionResponse":{"id":"late"}}`
	for body, want := range map[string]event.Identity{
		`{"appName":"shop","userId":"u","sessionId":"s","newMessage":{"parts":[{"text":"hi"}]},"streaming":true}`:                                                       {App: "shop", User: "u", Session: "s"},
		`{"app_name":"shop","user_id":"u","session_id":"s"}`:                                                                                                            {App: "shop", User: "u", Session: "s"},
		`{"appName":"camel","app_name":"snake","userId":null,"user_id":"u"}`:                                                                                            {App: "camel", User: "u"},
		`{"newMessage":{"parts":[{"functionResponse":{"id":"q1"}},{"function_response":{"id":"q2"}},{"functionResponse":{"name":"x"}},{"functionResponse":{"id":7}}]}}`: {Answers: []string{"q1", "q2"}},
		`{"new_message":{"parts":[{"function_response":{"id":"q1"}}]}}`:                                                                                                 {Answers: []string{"q1"}},
		`{"appName":7,"userId":["u"],"sessionId":{},"newMessage":[]}`:                                                                                                   {},
		`{}`:   {},
		`null`: {},
		`{"sessionId":"` + strings.Repeat("s", long) + `"}`:                                          {Session: strings.Repeat("s", dialect.MaxName)},
		`{"newMessage":{"parts":[{"functionResponse":{"id":"` + strings.Repeat("é", long) + `"}}]}}`: {Answers: []string{strings.Repeat("é", dialect.MaxName/2)}},
		`{"newMessage":{"parts":[` + many + `]}}`:                                                    {Answers: slices.Repeat([]string{"q"}, wire.MaxAnswers)},
	} {
		if diff := cmp.Diff(want, Dialect{}.Identify(dialect.Request{Body: value(t, body)})); diff != "" {
			t.Errorf("Identify(%.200s) differs (-want +got):\n%s", body, diff)
		}
	}
}

// TestHeaders checks the fields of a batch besides its facts.
func TestHeaders(t *testing.T) {
	for _, c := range []struct{ frame, want string }{
		{by(`"timestamp":1767081391`), `event run="e-1" agent="a" 2025-12-30T07:56:31Z`},
		{by(partial + `,"branch":"p.x"`), `event run="e-1" agent="a" branch="p.x" place="…/p:container/x[p.x]:container/a[p.x]?" partial`},
		{by(whole + `,"branch":""`), `event run="e-1" agent="a"`},
		{`{"invocationId":"e-1","author":"user","content":{}}`, `event run="e-1"`},
		{`{"invocationId":"e-1","actions":{}}`, `event run="e-1"`}, // JavaScript may omit the author
		{`{"invocationId":"","author":"a"}`, `event agent="a"`},    // Python may omit the invocation
		{`{"content":{"parts":[]}}`, `event`},
		{`{"ui_protocol":"adk","event":{"invocation_id":"e-1","author":"a","timestamp":"2026-05-03T10:00:00Z"}}`, `wrapped run="e-1" agent="a" 2026-05-03T10:00:00Z`},
		{`{"error":"x","error_details":{"timestamp":1767081391}}`, `error 2025-12-30T07:56:31Z`},
		{`{"error":"x","errorDetails":{"timestamp":"x"}}`, `error`},
		{`{"x":1}`, `event rejected=shape`},
		{`{"content":[],"author":7,"actions":null}`, `event rejected=shape`},
		{`{"ui_protocol":"adk"}`, `wrapped rejected=shape`},
		{`{"ui_protocol":"adk","event":null}`, `wrapped rejected=shape`},
		{`[]`, `event rejected=shape`},
		{`{"author":"a"`, `event rejected=syntax`},
		{`{"author":"a","author":"b"}`, `event rejected=duplicate_name`},
		{`{"author":"a","Author":"b"}`, `event rejected=folded_name`},
		{`{"error": "no "x" here"}`, `event rejected=syntax`},
	} {
		if got := headersOf(&event.Stream{}, c.frame)[0]; got != "1 "+c.want {
			t.Errorf("%s decodes to %q, want %q", c.frame, got, "1 "+c.want)
		}
	}
}

// TestRuns checks the run ids in a file, which may have many runs, and in the response to one request.
func TestRuns(t *testing.T) {
	ids := []string{"", "e-1", "", "e-1", "Xy9fresh", "e-2", "Xy9fresh", "e-" + strings.Repeat("x", 2*dialect.MaxName), "e-" + strings.Repeat("x", 2*dialect.MaxName), "e-1"}
	long := "e-" + strings.Repeat("x", dialect.MaxName-2)
	var frames []string
	for _, id := range ids {
		frames = append(frames, fmt.Sprintf(`{"invocationId":%q,"author":"a"}`, id))
	}
	frames = append(frames, `{"error":"x"}`, `{"error": "a "broken" one"}`, `{"invocationId":7,"author":"a"}`)
	for _, c := range []struct {
		stream event.Stream
		want   []string
	}{
		{event.Stream{}, []string{"", "e-1", "e-1", "e-1", "e-1", "e-2", "e-2", long, long, "e-1", "e-1", "e-1", "e-1"}},
		{event.Stream{SingleRun: true}, append([]string{""}, slices.Repeat([]string{"e-1"}, 12)...)},
	} {
		for i, head := range headersOf(&c.stream, frames...) {
			_, run, _ := strings.Cut(head, " run=")
			run, _, _ = strings.Cut(strings.TrimPrefix(run, `"`), `"`)
			if run != c.want[i] {
				t.Errorf("SingleRun %t: frame %d has the run %q, want %q", c.stream.SingleRun, i+1, run, c.want[i])
			}
		}
	}
	// The first id is the run's, in any format.
	if got := headersOf(&event.Stream{}, `{"invocationId":"Xy9fresh","author":"a"}`, `{"invocationId":"other","author":"a"}`)[1]; got != `2 event run="Xy9fresh" agent="a"` {
		t.Errorf("the second frame decodes to %q, want the first frame's run", got)
	}
}

// TestLimits checks that a decoder keeps a limited number of names and responses.
func TestLimits(t *testing.T) {
	stream := &event.Stream{}
	d := Dialect{}.New(stream).(*decoder)
	for i := range 3 * maxSpeakers {
		data := fmt.Sprintf(`{"invocationId":"e-1","author":"a%d","branch":"b%d","partial":true,"modelVersion":"m%d"}`, i, i, i)
		b := event.Batch{Stream: stream, Table: &table}
		d.Decode(dialect.Frame{JSON: value(t, data)}, &b)
		if want := fmt.Sprint("a", i); b.Agent != want || len(b.Events) != 1 || b.Events[0].Model != fmt.Sprint("m", i) {
			t.Fatalf("frame %d: agent %q with the events %+v, want agent %q and one event with its model", i, b.Agent, b.Events, want)
		}
	}
	if d.names.Len() != wire.MaxCachedNames || len(d.responses) != maxSpeakers {
		t.Errorf("the decoder keeps %d names and %d responses, want %d and %d", d.names.Len(), len(d.responses), wire.MaxCachedNames, maxSpeakers)
	}
	// Beyond the limit, a response is recognized from its own frame alone.
	b := event.Batch{Stream: stream, Table: &table}
	d.Decode(dialect.Frame{JSON: value(t, `{"invocationId":"e-1","author":"late","finishReason":"STOP"}`)}, &b)
	if len(b.Events) != 2 || b.Events[0].Kind != event.KindModelEnded {
		t.Errorf("beyond the limit, the events are %+v, want the end of a response", b.Events)
	}
}

// TestLongNames checks that a name over the limit is cut at the boundary of a character.
func TestLongNames(t *testing.T) {
	stream := &event.Stream{}
	d := Dialect{}.New(stream).(*decoder)
	long := strings.Repeat("x", dialect.MaxName-1) + "é"
	b := event.Batch{Stream: stream, Table: &table}
	d.Decode(dialect.Frame{JSON: value(t, fmt.Sprintf(`{"invocationId":"e-1","author":%q}`, long))}, &b)
	if b.Agent != long[:dialect.MaxName-1] {
		t.Errorf("the agent has %d bytes, want %d", len(b.Agent), dialect.MaxName-1)
	}
}

// TestDeltaCosts limits the allocations for a partial frame. A stream may have a hundred per second.
func TestDeltaCosts(t *testing.T) {
	const escaped = `data that is \"escaped\"`
	for name, c := range map[string]struct {
		frame string
		most  float64
	}{
		"python": {by(`"content":{"parts":[{"text":"This "}],"role":"model"},"partial":true,"modelVersion":"m","timestamp":1795234329.7524524,"actions":{"stateDelta":{}},` + used), 1},
		"js":     {by(`"content":{"parts":[{"text":"This "}],"role":"model"},"partial":true,"timestamp":1795234333685,"longRunningToolIds":[],` + used), 0},
		"go":     {by(`"branch":"p.x","content":{"parts":[{"text":"This "}]},"partial":true,"groundingMetadata":null,` + used), 0},
		// An escape is decoded into bytes of the batch, which are reused.
		"escaped": {by(`"content":{"parts":[{"text":"` + escaped + `"}]},"partial":true,"timestamp":1795234329.7524524`), 1},
		"thought": {by(`"content":{"parts":[{"text":"Hm. ","thought":true}]},"partial":true`), 0},
	} {
		stream := &event.Stream{SingleRun: true}
		d := Dialect{}.New(stream)
		frame := sse.Frame{Data: []byte(c.frame)}
		var b event.Batch
		n := testing.AllocsPerRun(100, func() {
			b.Begin(stream, frame, time.Time{})
			b.Table = &table
			if refused := b.Parse(128); refused != "" {
				t.Fatal(refused)
			}
			d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, &b)
		})
		if n > c.most {
			t.Errorf("%s: %v allocations, want at most %v", name, n, c.most)
		}
	}
}
