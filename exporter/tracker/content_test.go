package tracker_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/quick"
	"time"
	"unicode/utf8"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/strictjson"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// keepContent sets the limits for content, in bytes for an operation and in all.
func keepContent(each, all int) func(*tracker.Settings) {
	return func(s *tracker.Settings) { s.MaxContent, s.MaxContentTotal = each, all }
}

// reader reads the content of operations when they end, because it is dropped afterwards.
type reader struct {
	*scene
	content []string
}

func (r *reader) OperationEnded(run *tracker.Run, op *tracker.Operation) {
	r.scene.OperationEnded(run, op)
	if op.Details.OrZero().Content != nil {
		r.content = append(r.content, describe(op))
	}
}

func describe(op *tracker.Operation) string {
	c := op.Details.Content
	out := op.Name
	if len(c.Arguments) > 0 {
		out += " given " + string(c.Arguments)
	}
	if len(c.Result) > 0 {
		out += " gave " + string(c.Result)
	}
	for _, p := range c.Output {
		out += fmt.Sprintf(" said %s %q", p.Kind, p.Text)
		if p.Name != "" {
			out += fmt.Sprintf(" %s %s %s", p.Name, p.CallID, p.Arguments)
		}
	}
	if c.Truncated {
		out += " …"
	}
	return out
}

// readContent reads a stream of one run with content kept.
func readContent(t *testing.T, each, all int, frames ...*event.Batch) (content []string, s *scene) {
	t.Helper()
	settings := tracker.Settings{MaxOpenRuns: 100, MaxOperations: 100, MaxFacts: 100, IdleTimeout: time.Hour}
	keepContent(each, all)(&settings)
	r := &reader{scene: watch()}
	r.Tracker = tracker.New(settings, r.scene, r)
	stream := proxied()
	r.feed(stream, frames...).end(stream, event.EndOfStream)
	for _, op := range r.only(t).Operations {
		if op.Details.OrZero().Content != nil {
			t.Errorf("%s %s still holds its content", op.Kind, op.Name)
		}
	}
	return r.content, r.scene
}

// with sets the payload of the fact before it.
func with(payload string) fact {
	return func(b *event.Batch) {
		var doc strictjson.Doc
		if err := doc.Parse([]byte(payload), 100); err != nil {
			panic(err)
		}
		b.Events[len(b.Events)-1].SetPayload(doc.Root())
	}
}

func lastText(kind event.Kind, text string) fact {
	return func(b *event.Batch) { b.Add(kind).SetText([]byte(text)) }
}

func TestContent(t *testing.T) {
	for _, c := range []struct {
		name      string
		each, all int
		frames    []*event.Batch
		want      []string
	}{
		{"of a call and a response", 1000, 1000, []*event.Batch{
			says("app", responds("gemini"), lastText(event.KindThought, "hm"), lastText(event.KindText, "I "), lastText(event.KindText, "look."), calls("c", "search"), with(`{"q":"fire"}`)),
			says("app", returns("c", "search"), with(`{"hits":3}`), final),
		}, []string{
			`gemini said thought "hm" said text "I look." said tool_started "" search c {"q":"fire"}`,
			`search given {"q":"fire"} gave {"hits":3}`,
		}},
		{"of a response whose partial frames a whole one repeats", 1000, 1000, []*event.Batch{
			says("app", begins("gemini"), lastText(event.KindText, "I ")), says("app", begins("gemini"), lastText(event.KindText, "look.")),
			says("app", responds("gemini"), lastText(event.KindText, "I look."), final),
		}, []string{`gemini said text "I look."`}},
		{"of a response of which only partial frames came", 1000, 1000, []*event.Batch{
			says("app", begins("gemini"), lastText(event.KindText, "I ")), says("app", begins("gemini"), lastText(event.KindText, "lo")),
		}, []string{`gemini said text "I lo"`}},
		{"of a response after one that awaited usage", 1000, 1000, []*event.Batch{
			says("app", responds("gemini"), unmetered, lastText(event.KindText, "I look."), calls("c", "search")),
			says("app", responds("gemini"), lastText(event.KindText, "Done."), final),
		}, []string{`gemini said text "I look." said tool_started "" search c `, `gemini said text "Done."`}},
		{"not of text without a response", 1000, 1000, []*event.Batch{says("app", lastText(event.KindText, "I look."), final)}, nil},
		{"off", 0, 1000, []*event.Batch{
			says("app", responds("gemini"), lastText(event.KindText, "I look."), calls("c", "search"), with(`{"q":"fire"}`)),
			says("app", returns("c", "search"), with(`{"hits":3}`), final),
		}, nil},
		{"cut at an operation's limit", 100, 1000, []*event.Batch{
			says("app", responds("gemini"), lastText(event.KindText, strings.Repeat("wörd ", 20)), calls("c", "search"), with(`{"q":"`+strings.Repeat("fire ", 10)+`","n":1}`)),
			says("app", returns("c", "search"), with(`{"hits":["`+strings.Repeat("x", 100)+`"]}`), final),
		}, []string{
			`gemini said text "wörd wörd wörd wörd wörd wörd " …`,
			`search given {"q":"fire fire fire fire fire fire fire fire fire fire ","n":1} gave {"hits":["xxxxxxxxxxxxxxxxxxxxxxx"]} …`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, s := readContent(t, c.each, c.all, c.frames...)
			equal(t, lines(got...), lines(c.want...))
			if len(s.lost) > 0 {
				t.Errorf("lost %v", s.lost)
			}
		})
	}
}

// TestContentHeldIsBounded checks that open calls beyond the limit on content keep none, and that
// ended calls make room.
func TestContentHeldIsBounded(t *testing.T) {
	call := func(id string) *event.Batch { return says("app", calls(id, id), with(`{"q":"0123456789"}`)) } // 18 bytes
	got, s := readContent(t, 1000, 50, call("a"), call("b"), call("c"), says("app", returns("a", "a")), call("d"))
	equal(t, lines(got...), lines(
		`a given {"q":"0123456789"}`,
		`b given {"q":"0123456789"}`,
		`c given {"q":"012345"} …`,
		`d given {"q":"0123456789"}`,
	))
	equal(t, lines(s.lost...), "evicted content")
}

// TestContentLimitLowered checks that a reload may lower the limit below the content that is kept.
func TestContentLimitLowered(t *testing.T) {
	for _, kind := range []event.Kind{event.KindText, event.KindThought} {
		memory := budget.New(1 << 20)
		s, stream := watch(), proxied()
		settings := tracker.Settings{MaxOperations: 100, MaxFacts: 100, IdleTimeout: time.Hour, Memory: memory.Account("content", 1, 1)}
		keepContent(1000, 10000)(&settings)
		s.Configure(settings)
		s.feed(stream, says("app", begins("m"), lastText(event.KindText, strings.Repeat("x", 100))))
		keepContent(10, 10000)(&settings)
		s.Configure(settings)
		s.feed(stream, says("app", begins("m"), lastText(kind, "more"))).end(stream, event.EndOfStream)
		if used := memory.Usage()[0].Bytes; used != 0 {
			t.Errorf("%d bytes are charged after the last run", used)
		}
	}
}

// TestCutContentIsJSON checks that JSON cut at any length is valid JSON, no longer than the limit,
// and adds nothing.
func TestCutContentIsJSON(t *testing.T) {
	documents := []string{
		`{"a":"b\"c\\dé😀","list":[1,true,null,{"x":[]},"ünïcödé"],"😀":12345678901234567890,"":{"deep":{"deeper":["\ud83d\ude00"]}}}`,
		`["` + strings.Repeat(`\n`, 20) + `",{"k":"v"},-1.5e+10]`,
		`"` + strings.Repeat("é", 30) + `"`,
		`123456789`,
	}
	for _, document := range documents {
		for room := range len(document) + 2 {
			got, _ := readContent(t, room+1, 1<<20, says("app", calls("c", "tool"), with(document)))
			given, found := strings.CutPrefix(strings.TrimSuffix(lines(got...), " …"), "tool given ")
			if !found {
				continue
			}
			if !json.Valid([]byte(given)) || !utf8.ValidString(given) || len(given) > room+1 {
				t.Fatalf("%d bytes of %s: %s", room+1, document, given)
			}
			if room+1 >= len(document) && given != document {
				t.Fatalf("cut for nothing: %s", given)
			}
		}
	}
}

// TestCutContentIsBounded checks random values and limits.
func TestCutContentIsBounded(t *testing.T) {
	try := func(value map[string][]string, room uint8) bool {
		document, err := json.Marshal(value)
		if err != nil {
			return false
		}
		got, _ := readContent(t, int(room)+1, 1<<20, says("app", calls("c", "tool"), with(string(document))))
		given, found := strings.CutPrefix(strings.TrimSuffix(lines(got...), " …"), "tool given ")
		return !found || json.Valid([]byte(given)) && len(given) <= int(room)+1
	}
	if err := quick.Check(try, nil); err != nil {
		t.Error(err)
	}
}

// TestOffset checks that the clock offset is that of the fastest frame, and that it changes no
// times.
func TestOffset(t *testing.T) {
	frame := func(reported int, facts ...fact) *event.Batch {
		b := says("app", facts...)
		b.Time = second(reported)
		return b
	}
	unstamped := says("app", final)
	for _, c := range []struct {
		name   string
		stream *event.Stream
		frames []*event.Batch
		want   string
	}{
		{"behind", proxied(), []*event.Batch{frame(0), frame(1), frame(0, final)}, "1s true 0-4"},
		{"ahead", proxied(), []*event.Batch{frame(1), frame(5), frame(3, final)}, "-3s true 0-4"},
		{"of frames that have times", proxied(), []*event.Batch{says("app"), frame(0), unstamped}, "2s true 0-4"},
		{"not of a file, which nobody received", file(), []*event.Batch{frame(1), frame(5, final)}, "0s false 1-5"},
		{"not where no frame has a time", proxied(), []*event.Batch{says("app", final)}, "0s false 0-2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := follow(t, c.stream, c.frames...)
			equal(t, fmt.Sprintf("%s %t %s-%s", r.ClockOffset, r.ClockOffsetKnown, seconds(r.Root.Started), seconds(r.Root.Ended)), c.want)
		})
	}
}

// TestContentSharesMemory checks that content is kept only within the memory budget, and that its
// memory is released.
func TestContentSharesMemory(t *testing.T) {
	memory := budget.New(40).Account("content", 1, 1)
	call := func(id string) *event.Batch { return says("app", calls(id, id), with(`{"q":"0123456789"}`)) } // 18 bytes
	r := &reader{scene: watch()}
	settings := tracker.Settings{MaxOpenRuns: 100, MaxOperations: 100, MaxFacts: 100, IdleTimeout: time.Hour}
	keepContent(1000, 1000)(&settings)
	settings.Memory = memory
	r.Tracker = tracker.New(settings, r.scene, r)
	stream := proxied()
	r.feed(stream, call("a"), call("b"), call("c"))
	if left := memory.Remaining(); left != 4 {
		t.Errorf("%d bytes are left of 40", left)
	}
	r.end(stream, event.EndOfStream)
	equal(t, lines(r.content...), lines(`a given {"q":"0123456789"}`, `b given {"q":"0123456789"}`, `c …`))
	if left := memory.Remaining(); left != 40 {
		t.Errorf("%d bytes are left of 40 at the end", left)
	}
}

// questionReader reads the question while the run's root operation ends.
type questionReader struct {
	*scene
	asked []string
}

func (q *questionReader) OperationEnded(r *tracker.Run, op *tracker.Operation) {
	for _, in := range r.Inputs {
		if in.Question != nil && op == r.Root {
			q.asked = append(q.asked, fmt.Sprintf("%s %s%s", in.Question.Prompt, in.Question.Options, in.Question.Schema))
		}
	}
	q.scene.OperationEnded(r, op)
}

// TestQuestionsAreContent checks that a question is kept only with content, and only until the root
// operation has ended.
func TestQuestionsAreContent(t *testing.T) {
	question := func(prompt string) fact {
		return func(b *event.Batch) {
			var doc strictjson.Doc
			if err := doc.Parse([]byte(`["a","b"]`), 10); err != nil {
				panic(err)
			}
			b.Events[len(b.Events)-1].SetQuestion(event.Question{Prompt: prompt, Options: doc.Root()})
		}
	}
	for _, c := range []struct {
		name, prompt string
		each         int
		want         []string
	}{
		{"kept", "Which?", 1000, []string{`Which? ["a","b"]`}},
		{"off", "Which?", 0, nil},
		{"too long", strings.Repeat("?", 1000), 1000, nil},
	} {
		settings := tracker.Settings{MaxOpenRuns: 100, MaxOperations: 100, MaxFacts: 100, IdleTimeout: time.Hour}
		keepContent(c.each, 10_000)(&settings)
		q, stream := &questionReader{scene: watch()}, proxied()
		q.Tracker = tracker.New(settings, q.scene, q)
		q.feed(stream, says("app", asks("q", event.InputSelection), question(c.prompt)))
		q.ViewOpen(func(open []tracker.RunView) {
			for _, o := range open {
				if in := o.Copy().Inputs[0]; in.Question != nil {
					t.Errorf("%s: a copy of the open run has %q", c.name, in.Question.Prompt)
				}
			}
		})
		r := q.end(stream, event.EndOfStream).only(t)
		equal(t, lines(q.asked...), lines(c.want...))
		if r.Inputs[0].Question != nil {
			t.Errorf("%s: the question outlives its run", c.name)
		}
	}
}
