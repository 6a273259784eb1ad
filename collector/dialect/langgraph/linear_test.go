package langgraph

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/dialect"
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

	"nested lists of a tool": {
		nil,
		func(n int) sent {
			return sent{modeUpdates, `{"tools":` + strings.Repeat("[", n/5) + said("") + strings.Repeat("]", n/5) + `}`}
		},
	},
	"parts of a state": {
		nil,
		func(n int) sent {
			return sent{modeValues, "{" + repeated(n, `"p%d":{"type":"system","content":"x"}`) + "}"}
		},
	},
	"questions": {
		nil,
		func(n int) sent {
			return sent{modeUpdates, `{"__interrupt__":[` + repeated(n, `{"value":"q","id":"i%d"}`) + `]}`}
		},
	},
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

// TestLongNames checks that tasks and namespaces with long names take little memory.
func TestLongNames(t *testing.T) {
	d := Dialect{}.New(&event.Stream{}).(*decoder)
	for i := range 64 {
		decodeFrame(d, sent{modeTasks, fmt.Sprintf(`{"id":"t%d","name":"n%s","input":{},"triggers":["x"]}`, i, strings.Repeat("x", 128<<10))})
		decodeFrame(d, sent{fmt.Sprintf("custom|n%d%s", i, strings.Repeat("x", 128<<10)), `{}`})
	}
	if size := d.runState.size(); size > 1<<20 {
		t.Errorf("they take %d bytes", size)
	}
}

// decodeFrame decodes a frame.
func decodeFrame(d dialect.Decoder, one sent) *event.Batch {
	b, s := new(event.Batch), new(event.Stream)
	b.Begin(s, frameOf(one.name, one.data).Frame, time.Time{})
	b.Parse(200)
	d.Decode(dialect.Frame{Frame: b.Frame, JSON: b.JSON}, b)
	return b
}
