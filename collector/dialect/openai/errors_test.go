package openai_test

import (
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/dialecttest"
	"github.com/delegraph/delegraph/collector/dialect/openai"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

type noCounters struct{}

func (noCounters) CountWithheld(string, filter.Reason) {}
func (noCounters) CountRemovedID(string)               {}

// relayed returns what a relay sends of a stream, given as on the wire.
func relayed(t *testing.T, s filter.Settings, stream string) string {
	t.Helper()
	c := collector.New([]dialect.Dialect{openai.Dialect{}}, collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 128}, nil)
	d := c.Decode(&event.Stream{SingleRun: true}, collector.Input{Reader: strings.NewReader(stream), ReceivedAt: time.Now}, "openai")
	relay := filter.NewRelay(s, noCounters{})
	var out []byte
	for {
		b, err := d.Next()
		if err != nil {
			return string(out)
		}
		out = relay.Append(out, b)
	}
}

// TestErrors sends errors as servers write them. Each fails the run and the open answer. The client gets the error, or that there was one.
func TestErrors(t *testing.T) {
	const (
		begun   = `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}` + "\n\n"
		instead = `{"error":{"message":"the run failed","type":"server_error","param":null,"code":null}}`
		failed  = "error agent_error"
	)
	for _, c := range []struct {
		frame, data string
		client      string // "" for the data
		code        string
	}{
		{"", `{"error":"broken"}`, "", ""},
		{"", `{"error":{"message":"broken"}}`, "", ""},
		{"event: error\n", `{"error":{"message":"broken","type":"server_error"}}`, "", "server_error"},
		{"event: error\n", `{"type":"error","error":{"message":"broken","type":"overloaded_error"}}`, "", "overloaded_error"},
		{"event: error\n", `{"type":"error","message":"broken","code":"E_LIMIT"}`, "", "E_LIMIT"},
		{"", `{"object":"error","message":"broken","code":429}`, "", "429"},
		{"event: error\n", `{"message":"broken","code":503}`, "", "503"},
		{"event: error\n", `{"status":503,"detail":"ValueError: broken"}`, "", "ValueError"},
		{"", `{"object":"error","message":"broken","type":"BadRequestError","param":null,"code":400}`, "", "BadRequestError"},
		{"", `{"object":"error","message":"broken","type":"InternalServerError","param":null,"code":500}`, "", "InternalServerError"},
		{"event: error\n", `{"message":"broken","type":"internal_error"}`, "", "internal_error"},
		// Another type names a kind of frame, and this one is unknown.
		{"", `{"object":"error","message":"broken","type":"internal_note"}`, instead, "internal_note"},
		{"event: error\n", `{"object":"internal.note","message":"broken","type":"server_error"}`, instead, "server_error"},
	} {
		sent := begun + c.frame + "data: " + c.data + "\n\n"
		facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, sent)
		want := "model_ended model_error code=\"" + c.code + "\"\n  " + failed + " code=\"" + c.code + "\"\n  run_ended agent_error code=\"" + c.code + "\"\n"
		if c.code == "" {
			want = "model_ended model_error\n  " + failed + "\n  run_ended agent_error\n"
		}
		if !strings.Contains(facts, want) {
			t.Errorf("the facts of %s are\n%s", c.data, facts)
		}
		if out, want := relayed(t, client, sent), c.client+c.data; c.client == "" && !strings.HasSuffix(out, c.frame+"data: "+want+"\n\n") || c.client != "" && !strings.HasSuffix(out, "data: "+c.client+"\n\n") {
			t.Errorf("of %s the client gets %s", c.data, out)
		}
		if out := relayed(t, public, sent); strings.Contains(out, "broken") || !strings.Contains(out, "the run failed") {
			t.Errorf("of %s the public gets %s", c.data, out)
		}
		checkTruth(t, c.data, sent)
	}
}

// TestNoErrors sends frames that look like errors, after an item that is withheld. They fail nothing and do not leave.
func TestNoErrors(t *testing.T) {
	before := stream(created, strings.Replace(added, `"message"`, `"internal_note"`, 1))
	for _, sent := range []string{
		`data: {"object":"error","message":"secret","type":"response.output_text.delta","output_index":0,"item_id":"i"}`,
		`data: {"object":"error","message":"x","type":"response.in_progress"}`,
		`data: {"object":"error","message":"secret","delta":"secret"}`,
		`data: {"object":"error","message":{"role":"assistant","content":"secret"}}`,
		`data: {"object":"error","message":""}`,
		`data: {"object":"error","code":["secret"],"message":"x"}`,
		`data: {"message":"secret","code":503}`,
		`data: {"detail":"secret"}`,
		"event: error\ndata: {\"message\":\"x\",\"item\":{\"id\":\"i\",\"text\":\"secret\"}}",
	} {
		for _, s := range []filter.Settings{client, public} {
			if out := relayed(t, s, before+sent+"\n\n"); strings.Contains(out, "secret") {
				t.Errorf("of %s this leaves: %s", sent, out)
			}
		}
		if facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, before+sent+"\n\n"); strings.Contains(facts, "error agent_error") {
			t.Errorf("the facts of %s are\n%s", sent, facts)
		}
	}
}

// TestErrorsOfOtherRuns sends an error after the end of a response while another one is open. It fails that one.
func TestErrorsOfOtherRuns(t *testing.T) {
	sent := stream(created, later.Replace(created), later.Replace(ended), `{"type":"error","code":"x","message":"m"}`)
	const want = `model_ended model="m" model_error code="x"` + "\n  " + `error agent_error code="x"` + "\n  " + `run_ended agent_error code="x"`
	for _, single := range []bool{true, false} {
		if facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: single}, sent); strings.Count(facts, want) != 1 || strings.Count(facts, "model_ended") != 2 {
			t.Errorf("the facts are\n%s", facts)
		}
	}
}

// TestWrappedErrors sends the error of a model in the events of the Agents SDK. It fails the run, and leaves like one that is not wrapped.
func TestWrappedErrors(t *testing.T) {
	const failed = `{"type":"error","sequence_number":1,"code":"server_error","message":"broken","param":null}`
	for _, begun := range [][]string{
		{begins("a"), createdOf("r"), `{"type":"raw_response_event","data":` + failed + `}`},
		{agentA, ofModel(created), ofModel(failed)},
		{agentA, ofModel(failed)},
	} {
		sent, last := stream(begun...), begun[len(begun)-1]
		facts := dialecttest.Facts(openai.Dialect{}, &event.Stream{SingleRun: true}, sent)
		for _, want := range []string{`error agent_error code="server_error"`, `run_ended agent_error code="server_error"`} {
			if !strings.Contains(facts, want) {
				t.Errorf("the facts lack %s:\n%s", want, facts)
			}
		}
		if out := leaving(t, client, sent); !strings.Contains(out, last) {
			t.Errorf("of %s the client gets %s", last, out)
		}
		if out := leaving(t, public, sent); strings.Contains(out, "broken") || !strings.Contains(out, "the run failed") {
			t.Errorf("of %s the public gets %s", last, out)
		}
		checkStaysIn(t, []filter.Settings{client, public}, strings.Replace(strings.Replace(last, "broken", "secret", 1), `"code"`, `"kind":"internal","code"`, 1))
		checkTruth(t, last, sent)
	}
}
