package filter_test

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// leaves returns the filtered data of the last frame, or the reason why it is withheld.
func leaves(s filter.Settings, batches iter.Seq[*event.Batch]) (last string) {
	f := filter.New(s)
	for b := range batches {
		frame, why := f.Apply(b)
		if last = string(frame.Data); why != filter.Passed {
			last = string(why)
		}
	}
	return last
}

// leavesADK is leaves for ADK events.
func leavesADK(t *testing.T, s filter.Settings, events ...string) string {
	t.Helper()
	wire := ""
	for _, e := range events {
		wire += data(e)
	}
	return leaves(s, adkBatches(t, strings.NewReader(wire)))
}

const setting = "setting"

// Parts of events.
const (
	hi       = `{"text":"hi"}`
	thinking = `{"text":"hm","thought":true}`
	call     = `{"functionCall":{"id":"c1","name":"f"}}`
	answer   = `{"functionResponse":{"id":"c1","name":"f"}}`
	ask      = `{"functionCall":{"id":"c2","name":"adk_request_confirmation"}}`
	approve  = `{"functionResponse":{"id":"c2","name":"adk_request_confirmation"}}`
)

// TestKinds checks that each event kind can be withheld, by excluding it and by including all others. Policy client withholds
// the frame that states the kind. Policy public withholds the value that states it, if there is one.
func TestKinds(t *testing.T) {
	tests := map[event.Kind]struct{ sent, public string }{
		event.KindOther:          {sent: `{"invocationId":"e-1","author":"user","branch":"b"}`, public: setting},
		event.KindText:           {sent: adkEvent(adkParts(hi, call)), public: adkEvent(adkParts(call))},
		event.KindThought:        {sent: adkEvent(adkParts(hi, thinking)), public: adkEvent(adkParts(hi))},
		event.KindToolStarted:    {sent: adkEvent(adkParts(hi, call)), public: adkEvent(adkParts(hi))},
		event.KindToolEnded:      {sent: adkEvent(adkParts(hi, answer)), public: adkEvent(adkParts(hi))},
		event.KindTransfer:       {sent: adkEvent(adkParts(hi), `"actions":{"transferToAgent":"b"}`), public: adkEvent(adkParts(hi))},
		event.KindInputRequested: {sent: adkEvent(adkParts(hi, ask)), public: adkEvent(adkParts(hi))},
		event.KindInputAnswered:  {sent: adkEvent(adkParts(hi, approve)), public: adkEvent(adkParts(hi))},
		event.KindArtifact:       {sent: adkEvent(adkParts(hi), `"actions":{"artifactDelta":{"a.txt":0}}`), public: adkEvent(adkParts(hi))},
		event.KindState:          {sent: adkEvent(adkParts(hi), `"actions":{"stateDelta":{"k":1}}`), public: adkEvent(adkParts(hi))},
		event.KindError:          {sent: adkEvent(adkParts(hi), `"errorCode":"ERROR"`), public: adkEvent(adkParts(hi))},
		event.KindModelStarted:   {sent: adkEvent(adkParts(hi), `"partial":true`)},
		event.KindModelEnded:     {sent: adkEvent(adkParts(hi), `"finishReason":"STOP"`)},
		event.KindToolPaused:     {sent: adkEvent(adkParts(hi), `"actions":{"requestedToolConfirmations":{"c1":{"hint":"Go on?"}}}`)},
		event.KindFinal:          {sent: adkEvent(adkParts(hi))},
		event.KindConfidence:     {sent: adkEvent(adkParts(`{"text":"**Confidence:** 92%"}`))},
		event.KindCitation:       {sent: adkEvent(adkParts(`{"text":"**Source:** MTBS"}`))},
		event.KindReasoning:      {sent: adkEvent(adkParts(`{"functionResponse":{"name":"f","response":{"proof_layer":{"reasoning_chain":["a"]}}}}`)), public: adkEvent(adkParts(`{"functionResponse":{"name":"f"}}`))},
	}
	for kind, test := range tests {
		if test.public == "" {
			test.public = test.sent
		}
		others := slices.DeleteFunc(event.Kinds(), func(k event.Kind) bool { return k == kind })
		for policy, want := range map[event.Policy]string{event.PolicyClient: setting, event.PolicyPublic: test.public} {
			all := filter.Settings{Policy: policy, Thoughts: event.ThoughtsDetailed, StateKeys: []string{"k"}}
			if got := leavesADK(t, all, test.sent); got != test.sent && kind != event.KindReasoning {
				t.Errorf("%s, %s, without the setting: %s", kind, policy, got)
			}
			out, in := all, all
			out.Exclude, in.Include = []event.Kind{kind}, others
			if got := leavesADK(t, out, test.sent); got != want {
				t.Errorf("%s out, %s: %s, want %s", kind, policy, got, want)
			}
			if got := leavesADK(t, in, test.sent); got != want {
				t.Errorf("all but %s in, %s: %s, want %s", kind, policy, got, want)
			}
		}
	}
}

// TestKindsOfDecoders checks frames whose decoder reports a kind that the table does not find.
func TestKindsOfDecoders(t *testing.T) {
	for _, kind := range event.Kinds() {
		others := slices.DeleteFunc(event.Kinds(), func(k event.Kind) bool { return k == kind })
		for _, test := range []struct {
			what    string
			in, out []event.Kind
			want    string
		}{
			{"out", nil, []event.Kind{kind}, setting},
			{"all others in", others, nil, setting},
			{"in, with text", []event.Kind{event.KindText, kind}, nil, `{"kind":"content-delta","delta":"hi"}`},
		} {
			settings := filter.Settings{Policy: event.PolicyClient, Thoughts: event.ThoughtsDetailed, Include: test.in, Exclude: test.out}
			got := leaves(settings, func(yield func(*event.Batch) bool) {
				for b := range kindedBatches(strings.NewReader(data(`{"kind":"content-delta","delta":"hi"}`))) {
					b.Add(kind)
					yield(b)
				}
			})
			if got != test.want {
				t.Errorf("%s %s: %s, want %s", kind, test.what, got, test.want)
			}
		}
	}
}

// TestKindsTogether checks settings against frames with several kinds, with none, and with kinds that only the table finds.
func TestKindsTogether(t *testing.T) {
	full := adkEvent(`"id":"f1"`, adkParts(hi, call, answer), `"finishReason":"STOP"`, `"actions":{"artifactDelta":{"a.txt":0},"transferToAgent":"b"}`)
	for _, test := range []struct {
		name           string
		in, out        []event.Kind
		sent           string
		public, client string
	}{
		{"only text", []event.Kind{event.KindText}, nil, full, adkEvent(`"id":"f1"`, adkParts(hi)), setting},
		{"only text, of a response", []event.Kind{event.KindText}, nil, adkEvent(adkParts(hi), `"finishReason":"STOP"`), adkEvent(adkParts(hi), `"finishReason":"STOP"`), setting},
		{"in and out", []event.Kind{event.KindText}, []event.Kind{event.KindText}, full, empty, setting},
		{"nothing", []event.Kind{}, nil, full, empty, setting},
		{"nothing, of a frame without facts", []event.Kind{}, nil, `{"invocationId":"e-1","author":"user"}`, setting, setting},
		{"all that a frame has", []event.Kind{event.KindText, event.KindFinal}, nil, adkEvent(adkParts(hi)), adkEvent(adkParts(hi)), adkEvent(adkParts(hi))},
		{"what is empty is no fact", nil, []event.Kind{event.KindState, event.KindArtifact, event.KindError, event.KindTransfer},
			adkEvent(adkParts(hi), `"errorCode":"","actions":{"stateDelta":{},"artifactDelta":{},"transferToAgent":""}`),
			adkEvent(adkParts(hi), `"errorCode":"","actions":{"stateDelta":{},"artifactDelta":{},"transferToAgent":""}`),
			adkEvent(adkParts(hi), `"errorCode":"","actions":{"stateDelta":{},"artifactDelta":{},"transferToAgent":""}`)},
		{"what is null is no fact", nil, []event.Kind{event.KindError, event.KindTransfer},
			adkEvent(adkParts(hi), `"errorCode":null,"actions":{"transferToAgent":null}`),
			adkEvent(adkParts(hi), `"errorCode":null,"actions":{"transferToAgent":null}`),
			adkEvent(adkParts(hi), `"errorCode":null,"actions":{"transferToAgent":null}`)},
		{"no calls, and a preview of one", nil, []event.Kind{event.KindToolStarted}, adkEvent(`"partial":true`, adkParts(hi, call)), adkEvent(`"partial":true`, adkParts(hi)), setting},
		{"no calls, and a request", nil, []event.Kind{event.KindToolStarted}, adkEvent(adkParts(ask)), adkEvent(adkParts(ask)), adkEvent(adkParts(ask))},
		{"no calls, and a request with one", nil, []event.Kind{event.KindToolStarted}, adkEvent(adkParts(hi, ask, call)), adkEvent(adkParts(hi)), setting},
		{"no requests, and one with a call", nil, []event.Kind{event.KindInputRequested}, adkEvent(adkParts(hi, ask, call)), adkEvent(adkParts(hi)), setting},
		{"no requests, and a hint", nil, []event.Kind{event.KindInputRequested}, adkEvent(adkParts(hi), `"actions":{"requestedToolConfirmations":{"c1":{"hint":"Go on?"}}}`), adkEvent(adkParts(hi)), setting},
		{"no errors, and a finish reason as the code", nil, []event.Kind{event.KindError}, adkEvent(adkParts(hi), `"errorCode":"SAFETY"`), adkEvent(adkParts(hi)), setting},
		{"no errors, and a finish reason that is none", nil, []event.Kind{event.KindError}, adkEvent(adkParts(hi), `"errorCode":"STOP"`), adkEvent(adkParts(hi), `"errorCode":"STOP"`), adkEvent(adkParts(hi), `"errorCode":"STOP"`)},
		{"no errors, and an error frame", nil, []event.Kind{event.KindError}, `{"error":"the run failed"}`, empty, setting},
		{"no errors, and an error frame without words", nil, []event.Kind{event.KindError}, `{"error":""}`, empty, setting},
		{"no text, and the user's", nil, []event.Kind{event.KindText}, `{"invocationId":"e-1","author":"user",` + adkParts(hi) + `}`, empty, setting},
	} {
		for policy, want := range map[event.Policy]string{event.PolicyPublic: test.public, event.PolicyClient: test.client} {
			if got := leavesADK(t, filter.Settings{Policy: policy, Include: test.in, Exclude: test.out}, test.sent); got != want {
				t.Errorf("%s, %s: %s, want %s", test.name, policy, got, want)
			}
		}
	}
}

func kindsIn(f filter.Frame) (all []event.Kind) {
	for _, k := range event.Kinds() {
		if f.Kinds&(1<<k) != 0 {
			all = append(all, k)
		}
	}
	return all
}

// TestFactsOfFrames checks the kinds reported for a frame, by which subscribers select.
func TestFactsOfFrames(t *testing.T) {
	for _, test := range []struct {
		sent string
		want []event.Kind
	}{
		{adkEvent(adkParts(hi, call), `"actions":{"stateDelta":{"k":1},"artifactDelta":{}}`), []event.Kind{event.KindText, event.KindToolStarted}},
		{adkEvent(adkParts(hi, thinking)), []event.Kind{event.KindText, event.KindFinal}},
		{adkEvent(adkParts(ask), `"actions":{"transferToAgent":null,"artifactDelta":{"a.txt":0}}`), []event.Kind{event.KindInputRequested, event.KindArtifact}},
		{`{"invocationId":"e-1","author":"user",` + adkParts(approve) + `}`, []event.Kind{event.KindInputAnswered}},
		{`{"error":"quota"}`, []event.Kind{event.KindError}},
		{`{"error":""}`, []event.Kind{event.KindError}},
		{adkEvent(`"errorCode":null`), []event.Kind{event.KindFinal}},
		{adkEvent(adkParts(`{"functionCall":{"id":"c","name":"f"}}`), `"usageMetadata":{"promptTokenCount":1}`), []event.Kind{event.KindModelEnded, event.KindToolStarted}},
	} {
		f := filter.New(filter.Settings{Policy: event.PolicyPublic})
		for b := range adkBatches(t, strings.NewReader(data(test.sent))) {
			frame, why := f.Apply(b)
			if got := kindsIn(frame); !slices.Equal(got, test.want) {
				t.Errorf("%s: %v (%s), want %v", test.sent, got, why, test.want)
			}
			b.Repeats = true
			frame, _ = f.Apply(b)
			if got := kindsIn(frame); slices.Contains(got, event.KindText) {
				t.Errorf("%s, which repeats its text: %v", test.sent, got)
			}
		}
	}
}

// TestRunBoundaries checks that the public gets each frame that begins or ends a run, whatever else the settings exclude.
func TestRunBoundaries(t *testing.T) {
	none := []event.Kind{event.KindText, event.KindThought, event.KindFinal, event.KindModelEnded, event.KindOther}
	for _, c := range []struct{ dialect, before, frame, data string }{
		{"agui", "", data(`{"type":"RUN_STARTED","threadId":"t","runId":"r"}`), `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`},
		{"agui", aguiRun, data(`{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"answer":"hello"}}`), `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`},
		{"openai", openAIChat + data(`{"id":"c-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"hello"}}]}`), data("[DONE]"), "[DONE]"},
		{"adkstudio", "event: session\ndata: s\n\n", "event: end\ndata: hello\n\n", ""},
	} {
		for name, s := range map[string]filter.Settings{
			"no other kinds": {Include: []event.Kind{event.KindRunStarted, event.KindRunEnded}},
			"no text":        {Exclude: none},
			"no authors":     {Authors: []string{"nobody"}, Exclude: none},
		} {
			s.Policy = event.PolicyPublic
			if got := lastOf(t, s, c.dialect, c.before+c.frame); got != c.data {
				t.Errorf("%s, %s: %q leaves of %s, want %q", c.dialect, name, got, c.frame, c.data)
			}
		}
		s := filter.Settings{Policy: event.PolicyPublic, Exclude: event.Kinds()}
		if got := lastOf(t, s, c.dialect, c.before+c.frame); got != setting {
			t.Errorf("%s, with every kind excluded: %q leaves of %s", c.dialect, got, c.frame)
		}
	}
}
