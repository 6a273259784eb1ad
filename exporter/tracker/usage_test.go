package tracker_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestUsageThatFollows checks that usage is added to the response before it.
func TestUsageThatFollows(t *testing.T) {
	told := func(frames ...*event.Batch) string {
		r := follow(t, proxied(), frames...)
		out := outline(r)
		for _, op := range r.Operations {
			if op.Kind == tracker.Chat {
				out += fmt.Sprintf("\n%s %+v", op.Name, op.Response.Usage.Input)
			}
		}
		return out + fmt.Sprintf("\nall %+v, %d metered", r.Usage.Input, len(r.UnattributedUsage))
	}
	equal(t, told(says("app", responds(""), unmetered), says("app", uses("m", 7)), says("app", final)), `
completed
invoke_agent app ok 0-4
  chat m ok 0-1
m {N:7 Known:true}
all {N:7 Known:true}, 0 metered`)
	equal(t, told(says("app", responds("m"), unmetered), says("app", responds("m"), unmetered), says("app", uses("", 7)), says("app", final)), `
completed
invoke_agent app ok 0-5
  chat m ok 0-1
  chat m ok 1-2
m {N:0 Known:false}
m {N:7 Known:true}
all {N:7 Known:true}, 0 metered`)
	equal(t, told(says("app", responds("m"), unmetered), says("app", final), says("app", uses("m", 7))), `
completed
invoke_agent app ok 0-4
  chat m ok 0-1
m {N:0 Known:false}
all {N:7 Known:true}, 1 metered`)
	one, two := response("1"), response("2")
	equal(t, told(says("app", one, responds("m"), unmetered), says("app", two, responds("n"), unmetered), says("app", one, uses("", 7)), says("app", two, uses("", 9)), says("app", final)), `
completed
invoke_agent app ok 0-6
  chat m ok 0-1
  chat n ok 1-2
m {N:7 Known:true}
n {N:9 Known:true}
all {N:16 Known:true}, 0 metered`)
	equal(t, told(says("app", one, responds("m"), unmetered), says("app", calls("c", "t")), says("app", returns("c", "t")), says("app", one, uses("", 7)), says("app", final)), `
completed
invoke_agent app ok 0-6
  chat m ok 0-1
  execute_tool t ok 2-3
m {N:7 Known:true}
all {N:7 Known:true}, 0 metered`)
	equal(t, told(says("app", responds("m"), unmetered, final)), `
completed
invoke_agent app ok 0-2
  chat m ok 0-1
m {N:0 Known:false}
all {N:0 Known:false}, 0 metered`)
}

// TestFinishReasons checks that a finish reason is a code, because it becomes an attribute of a span. A sentence is none.
func TestFinishReasons(t *testing.T) {
	for _, reason := range []string{"stop", "MAX_TOKENS", "tool-calls", "content_filter: RECITATION", "function_call_filter: MALFORMED_FUNCTION_CALL", "FinishReason.STOP", "1"} {
		if got := reasonOf(t, reason); got != reason {
			t.Errorf("%q is the reason %q", reason, got)
		}
	}
	for _, sentence := range []string{"", "the user said secret", "note: secret", "content_filter: two words", "stop\n", "終", strings.Repeat("a", 65)} {
		if got := reasonOf(t, sentence); got != "" {
			t.Errorf("%q is the reason %q", sentence, got)
		}
	}
}

// reasonOf returns the finish reason of a response that a stream ends with the given one.
func reasonOf(t *testing.T, reason string) string {
	t.Helper()
	r := follow(t, proxied(), says("app", func(b *event.Batch) { b.Add(event.KindModelEnded).FinishReason = reason }, final))
	for _, op := range r.Operations {
		if op.Kind == tracker.Chat {
			return op.Response.FinishReason
		}
	}
	t.Fatal("there is no chat")
	return ""
}

// TestUsageOfRun ends runs with their total. Only what the responses have not stated is added.
func TestUsageOfRun(t *testing.T) {
	used := func(in, out int64) event.Usage {
		return event.Usage{Input: event.Count{N: in, Known: true}, Output: event.Count{N: out, Known: true}}
	}
	chat := func(in, out int64) fact {
		return func(b *event.Batch) { b.Add(event.KindModelEnded).Usage = used(in, out) }
	}
	total := func(in, out int64) fact {
		return func(b *event.Batch) { b.Add(event.KindRunEnded).Usage = used(in, out) }
	}
	onlyOutput := event.Usage{Output: event.Count{N: 2, Known: true}}
	for name, c := range map[string]struct {
		frames []*event.Batch
		all    event.Usage
		rest   []event.Usage
	}{
		"no response":             {[]*event.Batch{says("app", final), says("app", total(10, 5))}, used(10, 5), []event.Usage{used(10, 5)}},
		"the same total":          {[]*event.Batch{says("app", chat(4, 2)), says("app", chat(6, 3), final), says("app", total(10, 5))}, used(10, 5), nil},
		"a response is missing":   {[]*event.Batch{says("app", chat(4, 2), final), says("app", total(10, 5))}, used(10, 5), []event.Usage{used(6, 3)}},
		"less output":             {[]*event.Batch{says("app", chat(4, 2), final), says("app", total(4, 4))}, used(4, 4), []event.Usage{onlyOutput}},
		"a total that is smaller": {[]*event.Batch{says("app", chat(4, 2), final), says("app", total(1, 1))}, used(4, 2), nil},
		"twice":                   {[]*event.Batch{says("app", final), says("app", total(10, 5), total(10, 5))}, used(10, 5), []event.Usage{used(10, 5)}},
	} {
		r := follow(t, proxied(), c.frames...)
		var rest []event.Usage
		for _, u := range r.UnattributedUsage {
			rest = append(rest, u.Usage)
		}
		if r.Usage != c.all || !slices.Equal(rest, c.rest) {
			t.Errorf("%s: the run used %+v, of which %+v outside its responses, want %+v and %+v", name, r.Usage, rest, c.all, c.rest)
		}
	}
}
