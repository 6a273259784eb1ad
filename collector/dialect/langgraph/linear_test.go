package langgraph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
)

// longNamespace returns a namespace of many nodes in which a task may be.
func longNamespace(nodes int) string {
	var b strings.Builder
	for i := range nodes {
		fmt.Fprintf(&b, "|outer%d:%030d", i, i)
	}
	return b.String()[1:]
}

// growing are frames whose cost is proportional to their number of entries, after frames that leave much for them to compare with.
var growing = map[string]struct {
	before func(i int) sent // of maxScopes frames
	frame  func(n int) sent // with n entries
}{
	"metadata without tasks": {
		func(i int) sent {
			return sent{"tasks|" + longNamespace(100), fmt.Sprintf(`{"id":"t%d","name":"tools","input":{},"triggers":["x"]}`, i)}
		},
		func(n int) sent {
			return sent{modeMessagesMetadata, "{" + repeated(n, `"m%d":{"metadata":{"langgraph_checkpoint_ns":"tools|x","langgraph_node":"x"}}`) + "}"}
		},
	},
	"results that a hook returns": {
		nil,
		func(n int) sent {
			calls := repeated(n, `{"type":"ai","id":"a%[1]d","content":"","tool_calls":[{"id":"c%[1]d","name":"t","args":{}}]}`)
			return sent{modeEvents, `{"event":"on_chain_end","run_id":"r","name":"h.before_model","metadata":{},"parent_ids":[],"data":{"input":{"messages":[` + calls +
				`]},"output":{"messages":[` + calls + "," + repeated(n, `{"type":"tool","id":"r%[1]d","tool_call_id":"c%[1]d","content":"no"}`) + `]}}}`}
		},
	},
	"updates beside internal work": {
		func(i int) sent {
			return sent{"updates|" + longNamespace(20) + fmt.Sprintf("|internal_x:%d", i), `{"n":{"messages":[]}}`}
		},
		func(n int) sent { return sent{modeUpdates, "{" + repeated(n, `"n%d":{"x":1}`) + "}"} },
	},
	"nested lists of a tool": {
		nil,
		func(n int) sent {
			return sent{modeUpdates, `{"tools":` + strings.Repeat("[", n/5) + ai(`"m1"`, "") + strings.Repeat("]", n/5) + `}`}
		},
	},
	"questions": {
		nil,
		func(n int) sent {
			return sent{modeUpdates, `{"__interrupt__":[` + repeated(n, `{"value":"q","id":"i%d"}`) + `]}`}
		},
	},
	"calls of internal tools": {
		nil,
		func(n int) sent {
			return sent{modeUpdates, `{"x":{"messages":[{"type":"ai","content":"","tool_calls":[` + repeated(n, `{"name":"internal_x","id":"c%d","args":{}}`) + `]}]}}`}
		},
	},
	"withheld calls without an ID": {
		nil,
		func(n int) sent {
			return sent{modeUpdates, `{"x":{"messages":[{"type":"ai","content":"","tool_calls":[` + repeated(n, `{"name":"internal_x","id":"","args":{"n":%d}}`) + `]}]}}`}
		},
	},
	"tools beside calls of tools": {
		callsInTool,
		func(n int) sent {
			tools := strings.Repeat("tools:%[1]030d|", 40)
			return sent{modeMessagesMetadata, "{" + repeated(n, `"m%[1]d":{"metadata":{"langgraph_checkpoint_ns":"`+tools+`x:%[1]d","langgraph_node":"x"}}`) + "}"}
		},
	},
}

// callsInTool returns 1,000 withheld calls that the graph of a tool made, and then nothing of interest.
func callsInTool(i int) sent {
	if i > 0 {
		return sent{modeCustom, `{}`}
	}
	calls := repeated(1000, `{"id":"c%d","name":"f","args":{}}`)
	return sent{modeMessages, `[{"type":"ai","id":"m1","content":"","tool_calls":[` + calls + `]},{"langgraph_node":"internal_x","langgraph_checkpoint_ns":"tools:0|internal_x:1"}]`}
}

func repeated(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, ",")
}

// TestGrowth checks that a frame with four times the entries costs about four times the allocations, and that few come from each entry:
// a comparison of each entry with each of what is remembered would have others.
func TestGrowth(t *testing.T) {
	for name, c := range growing {
		allocations := func(n int) float64 {
			frame, d := c.frame(n), Dialect{}.New(&event.Stream{}).(*decoder)
			for i := range maxScopes {
				if c.before != nil {
					decodeFrame(d, c.before(i))
				}
			}
			return testing.AllocsPerRun(1, func() { decodeFrame(d, frame) })
		}
		few, many := allocations(100), allocations(400)
		t.Logf("%s: %.0f and %.0f allocations for 100 and 400 entries", name, few, many)
		if many > 6*few || many > 400*1200 {
			t.Errorf("%s: %.0f allocations for 100 entries, %.0f for 400", name, few, many)
		}
	}
}

// TestPlacesAroundWork asks for many places around much internal work: the work is read few times.
func TestPlacesAroundWork(t *testing.T) {
	d := Dialect{}.New(&event.Stream{}).(*decoder)
	for i := range 100 {
		decodeFrame(d, sent{"updates|" + longNamespace(20) + fmt.Sprintf("|internal_x:%d", i), `{}`})
	}
	read := 0
	around := d.aroundWork(func(work) bool { read++; return true })
	for i := range 1000 {
		if around.mayBe(fmt.Sprint("other", i)) || !around.mayBe(fmt.Sprintf("%030d", i%20)) {
			t.Fatalf("around the work, place %d is wrong", i)
		}
	}
	if read > manyPlaces*len(d.working) {
		t.Errorf("%d works were read %d times", len(d.working), read)
	}
	one, other := frameOf(modeCustom, `{"id":"q1"}`).JSON, frameOf(modeCustom, `{"id":"q2"}`).JSON
	if !d.mayAskWithin(one, &asker{mayBeInternal: true, around: around}) || d.mayAskWithin(other, &asker{task: "t", around: around}) {
		t.Error("for each question, the work is read again")
	}
}

// BenchmarkGrowth reports the time for each entry, which should be about the same.
func BenchmarkGrowth(b *testing.B) {
	for name, c := range growing {
		for _, n := range []int{250, 1000, 4000} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				frame, d := c.frame(n), Dialect{}.New(&event.Stream{}).(*decoder)
				for i := range maxScopes {
					if c.before != nil {
						decodeFrame(d, c.before(i))
					}
				}
				for b.Loop() {
					decodeFrame(d, frame)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/entry")
			})
		}
	}
}

// TestSameNamespaces compares namespaces of which one lacks IDs, or has only numbers.
func TestSameNamespaces(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"a:1|b:2", "a|b", true}, {"a:1|b:2", "a:1|b", true}, {"a:1|b:2", "a:2|b", false}, {"a:1|1|b", "a|b:2", true}, {"a:1|b:2", "a", false},
		{"a", "a:1|b:2", false}, {"", "1", true}, {"1", "", true}, {"", "a", false}, {"a:1", "b:1", false}, {"a:1|", "a:1", true},
	} {
		if got := mayBeSame(c.a, c.b); got != c.same {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}
