package openai_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// Which events of responses, and which items, an application passes on.
var (
	shownEvents = map[string]*regexp.Regexp{
		"all": regexp.MustCompile(``), "none": regexp.MustCompile(`^$`), "no starts of responses": regexp.MustCompile(`^(output|function|content|completed)`),
		"no ends of responses": regexp.MustCompile(`^(created|in_|output|function|content)`), "ends": regexp.MustCompile(`^completed$`), "texts": regexp.MustCompile(`^output_text.delta$`),
		"whole texts": regexp.MustCompile(`^output_text`), "texts, ends": regexp.MustCompile(`^(output_text.delta|completed)$`), "deltas": regexp.MustCompile(`delta$`),
		starts: regexp.MustCompile(`^(created|output_text.delta)$`), "starts, texts, ends": regexp.MustCompile(`^(created|completed|output_text.delta)$`),
		"arguments": regexp.MustCompile(`^(output_item|function_call_arguments.delta)`), "starts of items": regexp.MustCompile(`^(output_item.added|.*delta)$`),
		"ends of items": regexp.MustCompile(`^(output_item.done|output_text.delta)$`),
	}
	shownItems = map[string]*regexp.Regexp{
		"all": regexp.MustCompile(``), "none": regexp.MustCompile(`^$`), "calls": regexp.MustCompile(`^tool`), "calls, messages": regexp.MustCompile(`^(tool|message)`),
		"messages": regexp.MustCompile(`^message`), "results": regexp.MustCompile(`^tool_output`), "no results": regexp.MustCompile(`^(tool_called|message)`), "handoffs": regexp.MustCompile(`^handoff`),
	}
)

// starts shows the starts of responses, but not their ends.
const starts = "starts, texts"

// subset says what an application passes on of a recording of the SDK for Python.
type subset struct {
	recording, events, items string
	agents                   bool // agent_updated_stream_event
}

func (s subset) of(all []sdkEvent) (some []sdkEvent) {
	for _, e := range all {
		if e.begins && s.agents || e.kind != "" && shownEvents[s.events].MatchString(e.kind) || e.item != "" && shownItems[s.items].MatchString(e.item) {
			some = append(some, e)
		}
	}
	return some
}

// namesInternal reports whether events name the internal agent before its first event. If agents do not follow one another by handoffs, they
// also show calls, or where responses begin.
func (s subset) namesInternal() bool {
	switch {
	case strings.HasPrefix(s.recording, "handoff"):
		return s.agents || s.items == "all" || s.items == "handoffs"
	case s.overlaps(), s.recording == "call-by-internal":
		return s.agents && (!s.showsOnlyTexts() || slices.Contains([]string{"all", "calls", "calls, messages"}, s.items))
	}
	return s.agents
}

// isSequence reports whether agents follow one another, so that what names none is of the last that began. An internal one in a call
// of another one must have ended, which calls and results show. Without messages and ends of responses, the second item of the next response may
// be one of its own. If calls or results are shown, but no handoffs, agents may work at the same time.
func (s subset) isSequence(afterInternal bool) bool {
	switch s.recording {
	case "call", "two-calls", "three-calls", "call-then-handoff":
		return !afterInternal || slices.Contains([]string{"all", "calls, messages"}, s.items) || s.items == "calls" && !s.showsSecondItems()
	case "handoffs", "handoffs-only", "handoff-back", "internal-first":
		return !afterInternal || !s.showsOnlyTexts() || slices.Contains([]string{"all", "none", "messages", "handoffs"}, s.items)
	}
	return false
}

// showsOnlyTexts reports whether the events of responses show no calls, and so no handoffs.
func (s subset) showsOnlyTexts() bool {
	return slices.Contains([]string{"none", "texts", "whole texts", "deltas", "own texts"}, s.events)
}

// showsSecondItems reports whether events show items of one response besides each other, but no end of a response.
func (s subset) showsSecondItems() bool {
	return slices.Contains([]string{"deltas", "ends of items", "starts of items", "arguments", "no ends of responses"}, s.events)
}

// overlaps reports whether agents of the recording work at the same time, or events of the caller come after those of the agent in the call.
func (s subset) overlaps() bool {
	return slices.Contains([]string{"two-runs", "guardrail", "calls-at-once", "call-in-call"}, s.recording)
}

// isOpen reports whether a response of which no end is shown may go on, so that it is not known whether a text is of the next one.
func (s subset) isOpen() bool { return s.events == starts }

// TestSubsets passes on subsets of recorded events, in which an internal agent writes only "secret" and the others write "answer". Nothing
// of the internal agent leaves. What the others do leaves if an event, an item or a result names them.
func TestSubsets(t *testing.T) {
	recordings, err := filepath.Glob("testdata/subsets/*.jsonl")
	if err != nil || len(recordings) == 0 {
		t.Fatal("no recordings", err)
	}
	for _, path := range recordings {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			checkRecording(t, strings.TrimSuffix(filepath.Base(path), ".jsonl"), recordedRun(t, path))
		})
	}
}

func checkRecording(t *testing.T, name string, all []sdkEvent) {
	t.Helper()
	for events := range shownEvents {
		for items := range shownItems {
			for _, agents := range []bool{true, false} {
				s := subset{name, events, items, agents}
				if sent := s.of(all); len(sent) > 0 && (agents || !s.overlaps()) {
					checkSubset(t, s, client, sent)
					checkSubset(t, s, public, sent)
					checkJavaScript(t, s, sent)
				}
			}
		}
	}
}

var (
	answerOf   = regexp.MustCompile(`answer-\w+`)
	foreign    = regexp.MustCompile(`delta":"(secret|answer-writer|answer-helper)|"text":"(secret|answer-writer|answer-helper)`)
	ownAnswers = regexp.MustCompile(`answer-[b-z]\w+|secret [b-z]\w+`) // not those in arguments
)

func checkSubset(t *testing.T, s subset, reader filter.Settings, sent []sdkEvent) {
	t.Helper()
	var data []string
	for _, e := range sent {
		data = append(data, e.data)
	}
	var memory event.Withheld
	of := func() *event.Stream { return &event.Stream{SingleRun: true, Withheld: &memory} }
	out := leavingOf(t, reader, of(), stream(data...))
	if s.namesInternal() && strings.Contains(out, "secret") {
		t.Fatalf("%+v: under %s this leaves: %s", s, reader.Policy, out)
	}
	if again := leavingOf(t, reader, of(), stream(data...)); s.namesInternal() && !(s.overlaps() && s.events == "starts, texts, ends") && s.events != starts && s.events != "no ends of responses" && again != out {
		t.Fatalf("%+v: under %s the next reader gets: %s, not: %s", s, reader.Policy, again, out)
	}
	plain := stream(data...)
	if !s.overlaps() {
		plain = leaving(t, reader, strings.ReplaceAll(plain, "internal_", "q_"))
	}
	if reader.Authors = []string{"triage"}; s.agents && !s.overlaps() {
		if out := leaving(t, reader, strings.ReplaceAll(stream(data...), "internal_", "q_")); foreign.MatchString(out) {
			t.Fatalf("%+v: under %s this leaves of other agents than triage: %s", s, reader.Policy, out)
		}
	}
	left := strings.Split(out, "\n")
	for i, known := range s.knownOwners(sent) {
		e := sent[i]
		hasText := e.item == "message_output_created" || e.kind == "output_text.delta" && !slices.Contains([]string{starts, "starts, texts, ends"}, s.events)
		if text := ownAnswers.FindString(e.data); hasText && !strings.Contains(plain, text) {
			t.Fatalf("%+v: under %s this does not leave if no agent is internal: %s", s, reader.Policy, e.data)
		}
		switch {
		case !known || s.isOpen():
		case reader.Policy == event.PolicyClient && !slices.Contains(left, e.data), reader.Policy == event.PolicyPublic && hasText && !strings.Contains(out, answerOf.FindString(e.data)):
			t.Fatalf("%+v: under %s this does not leave: %s", s, reader.Policy, e.data)
		}
	}
	if reader.Policy == event.PolicyClient && !s.overlaps() && strings.Count(plain, "\n") != len(sent) {
		t.Fatalf("%+v: if no agent is internal this leaves: %s", s, plain)
	}
}

// knownOwners returns which events are of an ordinary agent that is named.
func (s subset) knownOwners(sent []sdkEvent) (known []bool) {
	speaker, afterInternal := "", false
	for _, e := range sent {
		switch {
		case e.begins, e.result:
			speaker = e.agent
		case e.target != "":
			speaker = e.target
		}
		afterInternal = afterInternal || strings.HasPrefix(speaker, "internal")
		isKnown := e.item != "" || s.agents && speaker == e.owner && s.isSequence(afterInternal)
		known = append(known, isKnown && !strings.HasPrefix(e.owner, "internal") && !strings.Contains(e.data, `"name":"internal`))
	}
	return known
}

// checkJavaScript is checkSubset for the events as the SDK for JavaScript sends them, with those of responses or only its own.
func checkJavaScript(t *testing.T, s subset, sent []sdkEvent) {
	t.Helper()
	for _, form := range []string{"model", "own", "both"} {
		if form == "own" && (strings.HasSuffix(s.events, "of items") || s.events == "arguments") {
			s.events = "own texts"
		}
		var data []string
		for _, e := range sent {
			data = append(data, inJavaScript(t, e, form)...)
		}
		if out := leaving(t, client, stream(data...)); s.namesInternal() && strings.Contains(out, "secret") {
			t.Fatalf("%+v: of the form %s this leaves: %s", s, form, out)
		}
		if s.overlaps() {
			continue
		}
		if plain := leaving(t, client, strings.ReplaceAll(stream(data...), "internal_", "q_")); strings.Count(plain, "\n") != len(data) {
			t.Fatalf("%+v: of the form %s, if no agent is internal, this leaves: %s", s, form, plain)
		}
	}
}

var javaScript = strings.NewReplacer(`"new_agent"`, `"agent"`, "occured", "occurred", `"raw_item"`, `"rawItem"`, `"call_id"`, `"callId"`, `"function_call_output"`, `"function_call_result"`, `"source_agent"`, `"sourceAgent"`, `"target_agent"`, `"targetAgent"`) //nolint:misspell // as the SDK for Python spells it

// inJavaScript returns an event in the forms of the SDK for JavaScript.
func inJavaScript(t *testing.T, e sdkEvent, form string) (sent []string) {
	t.Helper()
	if e.kind == "" {
		return []string{javaScript.Replace(e.data)}
	}
	var v struct {
		Data     json.RawMessage
		Response struct{ ID, Output json.RawMessage }
		Delta    string
	}
	if err := json.Unmarshal([]byte(e.data), &v); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(v.Data, &v); err != nil {
		t.Fatal(err)
	}
	wrap := func(data string) { sent = append(sent, `{"type":"raw_model_stream_event","data":{`+data+`}}`) }
	if form != "model" {
		switch e.kind {
		case "created":
			wrap(`"type":"response_started","providerData":` + string(v.Data))
		case "output_text.delta":
			wrap(`"type":"output_text_delta","delta":"` + v.Delta + `"`)
		case "completed":
			wrap(`"type":"response_done","response":{"id":` + string(v.Response.ID) + `,"output":` + javaScript.Replace(string(v.Response.Output)) + `}`)
		}
	}
	if form != "own" {
		wrap(`"type":"model","event":` + string(v.Data))
	}
	return sent
}
