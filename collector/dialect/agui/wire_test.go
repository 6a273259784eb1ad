package agui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
)

func parse(t testing.TB, data string) strictjson.Value {
	t.Helper()
	var doc strictjson.Doc
	if err := doc.Parse([]byte(data), 128); err != nil {
		t.Fatal(err)
	}
	return doc.Root()
}

// TestReportedTime checks the units and the bounds of timestamps.
func TestReportedTime(t *testing.T) {
	for sent, want := range map[string]string{
		"1795228205183":   "2026-11-21T02:30:05.183Z",
		"1795228205.183":  "2026-11-21T02:30:05.183Z", // in seconds
		"1795228205183.5": "2026-11-21T02:30:05.1835Z",
		"0":               "",
		"-1":              "",
		"1e300":           "",
		"253402300800000": "", // the year 10000
		`"2026"`:          "",
		"null":            "",
	} {
		got := ""
		if at := wire.NumberTime(parse(t, sent)); !at.IsZero() {
			got = at.Format(time.RFC3339Nano)
		}
		if got != want {
			t.Errorf("NumberTime(%s) = %q, want %q", sent, got, want)
		}
	}
}

// TestReadUsage checks that unusable counts stay unknown, and that the output follows from the total.
func TestReadUsage(t *testing.T) {
	known := func(n int64) event.Count { return event.Count{N: n, Known: true} }
	for sent, want := range map[string]event.Usage{
		`{"inputTokens":10,"outputTokens":5,"cachedInputTokens":4,"reasoningTokens":2,"totalTokens":99}`: {Input: known(10), Output: known(5), CacheRead: known(4), Reasoning: known(2)},
		`{"inputTokens":10,"totalTokens":15}`:                         {Input: known(10), Output: known(5)},
		`{"inputTokens":10,"totalTokens":5}`:                          {Input: known(10)},
		`{"totalTokens":5}`:                                           {},
		`{"inputTokens":0}`:                                           {Input: known(0)},
		`{"inputTokens":1.5,"outputTokens":-1,"reasoningTokens":"1"}`: {},
		`{"inputTokens":1e18}`:                                        {},
		`[]`:                                                          {},
	} {
		if got := readUsage(parse(t, sent)); got != want {
			t.Errorf("readUsage(%s) = %+v, want %+v", sent, got, want)
		}
	}
}

// TestPatch checks that at most wire.MaxKeys keys are reported, each once.
func TestPatch(t *testing.T) {
	var patch []string
	for i := range 3 * wire.MaxKeys {
		patch = append(patch, fmt.Sprintf(`{"path":"/k%d/x"}`, i/2))
	}
	if got := readPatch(parse(t, "["+strings.Join(patch, ",")+"]")); len(got.Keys) != wire.MaxKeys || got.Bytes.Known {
		t.Errorf("readPatch() has %d keys and the size %+v, want %d keys and no size", len(got.Keys), got.Bytes, wire.MaxKeys)
	}
}

// TestBounds checks the limits of the decoder's state.
func TestBounds(t *testing.T) {
	d := Dialect{}.New(&event.Stream{}).(*decoder)
	send := func(format string, i int) *event.Batch {
		b := &event.Batch{Table: &table}
		d.Decode(dialect.Frame{JSON: parse(t, strings.ReplaceAll(format, "%", fmt.Sprint(i)))}, b)
		return b
	}
	send(start, 0)
	for i := range 2000 {
		for _, format := range []string{
			`{"type":"TEXT_MESSAGE_START","messageId":"m%"}`,
			`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m%","delta":"x"}`,
			`{"type":"TEXT_MESSAGE_CHUNK","messageId":"k%","subagentRunId":"s%","delta":"x"}`,
			`{"type":"TOOL_CALL_START","toolCallId":"c%","toolCallName":"f%"}`,
			`{"type":"STEP_STARTED","stepName":"a%"}`,
			`{"type":"STEP_STARTED","stepName":"a%","subagentRunId":"s%"}`,
			`{"type":"SUBAGENT_STARTED","subagentRunId":"s%","name":"n%"}`,
			`{"type":"RUN_STARTED","threadId":"t%","runId":"n%","parentRunId":"r"}`,
		} {
			send(format, i)
		}
	}
	if n := len(d.messages.open); n != maxMessages {
		t.Errorf("%d messages are open, want %d", n, maxMessages)
	}
	for what, n := range map[string]int{"calls": len(d.calls), "steps": len(d.steps.open), "agents": len(d.agents), "nested runs": len(d.nestedRuns)} {
		if n != maxOpen {
			t.Errorf("%d %s are open, want %d", n, what, maxOpen)
		}
	}
	if n := d.names.Len(); n != wire.MaxCachedNames {
		t.Errorf("%d names are cached, want %d", n, wire.MaxCachedNames)
	}
	for _, format := range []string{
		`{"type":"TEXT_MESSAGE_START","messageId":"m1999"}`, `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m1999","delta":"x"}`,
		`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m1999","delta":"x"}`, `{"type":"TEXT_MESSAGE_END","messageId":"m1999"}`,
	} {
		if b := send(format, 0); b.Type != typeOrphan {
			t.Errorf("%s, of a message beyond the limit, has the type %q, want %q", format, b.Type, typeOrphan)
		}
	}
	b := send(`{"type":"MESSAGES_SNAPSHOT","messages":[]}`, 0)
	if n := len(d.messages.unreported); n > maxUnreported || len(b.Events) > maxUnreported {
		t.Errorf("%d texts are unreported and %d were reported, want at most %d", n, len(b.Events), maxUnreported)
	}
	b = send(finish, 0)
	paused := 0
	for _, e := range b.Events {
		if e.Kind == event.KindToolPaused {
			paused++
		}
	}
	if paused != maxPending || len(d.calls) != 0 || len(d.messages.open) != 0 || len(d.agents) != 0 {
		t.Errorf("%d calls are paused, want %d; %d calls, %d messages and %d agents outlive the run, want none", paused, maxPending, len(d.calls), len(d.messages.open), len(d.agents))
	}
	long := `{"type":"RUN_FINISHED","threadId":"t","runId":"q","usage":[` + strings.Repeat(`{"inputTokens":1},`, 3*maxModels) + `7],"outcome":{"type":"interrupt","interrupts":[` +
		strings.Repeat(`{"id":"i","reason":"x"},`, 3*maxPending) + `7]}}`
	if b = send(long, 0); len(b.Events) != maxModels+maxPending+1 {
		t.Errorf("the end of a run has %d facts, want %d", len(b.Events), maxModels+maxPending+1)
	}
}
