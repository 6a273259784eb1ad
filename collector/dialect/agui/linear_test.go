package agui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// growing are frames after others that leave n entries to compare with. Those with n entries themselves may cost more for each entry.
var growing = map[string]struct {
	before     func(n int) []string
	frame      func(n int) string
	hasEntries bool // the frame has n entries
}{
	"starts of texts while agents work": {
		func(n int) (all []string) {
			for i := range n {
				all = append(all, begunCall("task", i), callArgs(i, `{\"subagent_type\":\"a\",\"list\":[`+strings.Repeat("1,", 1000)+`1]}`))
			}
			return all
		},
		func(int) string { return ev("TEXT_MESSAGE_START", `"messageId":"m"`, `"role":"assistant"`) },
		false,
	},
	"pieces of text in steps within steps": {
		func(n int) (all []string) {
			for i := range n {
				all = append(all, ev("STEP_STARTED", fmt.Sprintf(`"stepName":"s%[1]d","rawEvent":{"attribution":{"step_id":"i%[1]d","parent_step_id":"i%[2]d"}}`, i, i-1)))
			}
			return all
		},
		func(int) string { return ev("TEXT_MESSAGE_CONTENT", `"messageId":"m"`, `"delta":"x"`) },
		false,
	},
	"calls of agents in teams in teams": {
		func(n int) (all []string) {
			for i := range n {
				all = append(all, begunCall("task", i, fmt.Sprintf(`"parentMessageId":"m%d"`, i)), callArgs(i, `{\"subagent_type\":\"a\"}`))
			}
			return append(all, ev("TOOL_CALL_END", `"toolCallId":"c0"`))
		},
		func(n int) string { return begunCall("f", n, `"parentMessageId":"m"`) },
		false,
	},
	"a path of many members": {
		func(int) []string {
			return []string{ev("STATE_SNAPSHOT", `"snapshot":{"last":{"role":"ai","name":"internal_a"}}`)}
		},
		func(n int) string {
			return ev("STATE_DELTA", `"delta":[{"op":"add","path":"`+strings.Repeat("/content", n)+`","value":1}]`)
		},
		true,
	},
	"a path of many elements": {
		func(int) []string { return []string{ev("STATE_SNAPSHOT", `"snapshot":{"last":{"role":"ai"}}`)} },
		func(n int) string {
			return ev("STATE_DELTA", `"delta":[{"op":"add","path":"/messages`+strings.Repeat("/0", n)+`/name","value":"internal_a"}]`)
		},
		true,
	},
	"copies of a document with many messages": {
		func(n int) []string {
			return []string{ev("STATE_SNAPSHOT", `"snapshot":{`+repeated(n, `"m%[1]d":{"role":"ai","id":"m%[1]d","content":"x"}`)+`}`)}
		},
		func(n int) string {
			return ev("STATE_DELTA", `"delta":[`+repeated(n, `{"op":"copy","from":"/n","path":"/x%d"}`)+`]`)
		},
		true,
	},
	"names of many messages": {
		func(n int) []string {
			return []string{ev("STATE_SNAPSHOT", `"snapshot":{"messages":[`+repeated(n, `{"role":"ai","id":"m%d","content":"x"}`)+`]}`)}
		},
		func(n int) string {
			return ev("STATE_DELTA", `"delta":[{"op":"remove","path":"/messages/0"},`+repeated(n, `{"op":"add","path":"/messages/%d/name","value":"internal_a"}`)+`]`)
		},
		true,
	},
	"requests of a question beside many calls": {
		func(n int) (all []string) {
			all = append(all, begunCall("f", n, `"kind":"internal"`))
			for i := range n {
				all = append(all, begunCall("f", i), callArgs(i, fmt.Sprintf(`{\"x\":%d}`, i)))
			}
			return all
		},
		func(n int) string {
			return ev("CUSTOM", `"name":"on_interrupt"`, `"value":{"action_requests":[`+repeated(n, `{"name":"f","args":{"x":%d}}`)+`]}`)
		},
		true,
	},
	"activities after withheld calls": {
		func(n int) (all []string) {
			for i := range n {
				all = append(all, begunCall("f", i, `"kind":"internal"`), callArgs(i, `{\"list\":[`+strings.Repeat("1,", 100)+`1]}`))
			}
			return all
		},
		func(n int) string {
			return ev("MESSAGES_SNAPSHOT", `"messages":[`+repeated(n, `{"id":"a%d","role":"activity","activityType":"x","content":{"y":1}}`)+`]`)
		},
		true,
	},
}

func begunCall(tool string, i int, more ...string) string {
	return ev("TOOL_CALL_START", append([]string{fmt.Sprintf(`"toolCallId":"c%d"`, i), `"toolCallName":"` + tool + `"`}, more...)...)
}

func callArgs(i int, delta string) string {
	return ev("TOOL_CALL_ARGS", fmt.Sprintf(`"toolCallId":"c%d"`, i), `"delta":"`+delta+`"`)
}

func repeated(n int, format string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(all, ",")
}

// decodeLast returns a function that decodes the last of some frames, after the others.
func decodeLast(t testing.TB, frames []string) func() {
	d := Dialect{}.New(&event.Stream{}).(*decoder)
	var decode func()
	for _, one := range append([]string{start}, frames...) {
		f := dialect.Frame{JSON: parse(t, one)}
		decode = func() { d.Decode(f, &event.Batch{JSON: f.JSON, Table: &table}) }
		decode()
	}
	return decode
}

// TestGrowth checks that a frame with four times the entries costs about four times the allocations, and that other frames cost about the
// same after four times the entries: a comparison of each entry with each of what is remembered would cost more.
func TestGrowth(t *testing.T) {
	for name, c := range growing {
		allocations := func(n int) float64 { return testing.AllocsPerRun(1, decodeLast(t, append(c.before(n), c.frame(n)))) }
		few, many := allocations(50), allocations(200)
		t.Logf("%s: %.0f and %.0f allocations for 50 and 200 entries", name, few, many)
		if c.hasEntries && many > 6*few || !c.hasEntries && many > few+50 {
			t.Errorf("%s: %.0f allocations for 50 entries, %.0f for 200", name, few, many)
		}
	}
}

// BenchmarkGrowth reports the time for each entry, which should be about the same.
func BenchmarkGrowth(b *testing.B) {
	for name, c := range growing {
		for _, n := range []int{50, 200, 800} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				decode := decodeLast(b, append(c.before(n), c.frame(n)))
				for b.Loop() {
					decode()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/entry")
			})
		}
	}
}
