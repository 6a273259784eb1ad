package collector_test

import (
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/event"
)

// TestDeliver checks that Deliver and Observe make the same calls to the sink. It delivers batches while
// their stream is decoded and after that, and frames that came before the dialect was known.
func TestDeliver(t *testing.T) {
	huge := `{"n":"` + strings.Repeat("x", limits.MaxFrame) + `"}`
	for name, sent := range map[string]string{
		"plain":                    stream(yesX, none, `{"n":"panic","panic":1}`, `{"n":`, none) + "data: {",
		"too large at first":       stream(huge, huge, yesY, none),
		"recognized late":          stream(append(many(7, none), yesX, none)...),
		"never recognized":         stream(many(8, none)...),
		"buffered until its end":   stream(maybeY, none),
		"maximum number of events": stream(yesX, `{"n":"full","facts":16384}`, none),
		"too many events":          stream(yesX, `{"n":"full","facts":16385}`, none),
	} {
		t.Run(name, func(t *testing.T) {
			observed := &recorder{}
			pipeline := func(r *recorder) *collector.Collector {
				return collector.New([]dialect.Dialect{fake("x"), fake("y")}, limits, r)
			}
			if err := pipeline(observed).Observe(&event.Stream{}, collector.Input{Reader: strings.NewReader(sent)}); err != nil {
				t.Fatal(err)
			}
			for capacity, when := range map[int]string{1 << 10: "after decoding", 0: "while decoding"} {
				delivered := &recorder{}
				batches := make(chan *event.Batch, capacity)
				decode := func() {
					defer close(batches)
					d := pipeline(nil).Decode(&event.Stream{}, collector.Input{Reader: strings.NewReader(sent), ReceivedAt: func() time.Time { return time.Time{} }})
					for _, err := d.Next(); err == nil; _, err = d.Next() {
						batches <- d.Detach()
					}
				}
				if capacity > 0 {
					decode()
				} else {
					go decode()
				}
				pipeline(delivered).Deliver(&event.Stream{}, func() *event.Batch { return <-batches }, func() (event.End, time.Time) { return event.EndOfStream, time.Time{} })
				if diff := cmp.Diff(observed.calls, delivered.calls); diff != "" {
					t.Errorf("%s, the calls to the sink differ (-observed +delivered):\n%s", when, diff)
				}
			}
		})
	}
}

// TestMemorySizeOfBatches checks that the MemorySize of detached batches, which bounds queues, is between
// 90 and 200 percent of the memory that they take.
func TestMemorySizeOfBatches(t *testing.T) {
	pieces := strings.Repeat(`{"data":1},`, 2000)
	for name, c := range map[string]struct{ dialect, sent string }{
		"deltas": {"adk", stream(many(500, `{"invocationId":"e-1","author":"a","partial":true,"content":{"parts":[{"text":"This \n"}]}}`)...)},
		"calls": {"adk", stream(many(50, `{"invocationId":"e-1","author":"a","content":{"parts":[`+
			strings.Repeat(`{"functionCall":{"id":"c","name":"f","args":{"q":[1,2,3]}}},`, 200)+`{}]}}`)...)},
		"pieces of artifacts": {"a2a", stream(many(20, `{"jsonrpc":"2.0","result":{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"f","parts":[`+pieces+`{"data":1}]}}}}`)...)},
		"keys of state":       {"agui", stream(many(100, `{"type":"STATE_SNAPSHOT","snapshot":{`+strings.Repeat(`"`+strings.Repeat("k", 200)+`":1,`, 1)+`"b":2}}`)...)},
		"embedded JSON":       {"agui", stream(many(50, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"[`+strings.Repeat(`\"x\",`, 2000)+`1]"}`)...)},
		"assembled texts":     {"deepagents", strings.Repeat(stream(answerFrame("content_start", ""), answerFrame("content", strings.Repeat(`x\n`, 10_000)), answerFrame("content_end", "")), 30)},
	} {
		t.Run(name, func(t *testing.T) {
			settings := limits
			settings.MaxFrame = 1 << 20
			d := collector.New(collector.Dialects(), settings, nil).Decode(&event.Stream{}, collector.Input{
				Reader: strings.NewReader(c.sent), ReceivedAt: func() time.Time { return time.Time{} },
			}, c.dialect)
			var batches []*event.Batch
			before := heap()
			for b, err := d.Next(); err != io.EOF; b, err = d.Next() {
				if err != nil || b.Rejected != "" {
					t.Fatalf("%v, rejected %q", err, b.Rejected)
				}
				batches = append(batches, d.Detach())
			}
			used, reported := int(heap()-before), 0
			for _, b := range batches {
				reported += b.MemorySize()
			}
			if reported < used*9/10 || reported > 2*used {
				t.Errorf("%d batches take %d bytes, but the sum of MemorySize is %d", len(batches), used, reported)
			}
			t.Logf("%d batches take %d bytes, and the sum of MemorySize is %d", len(batches), used, reported)
			runtime.KeepAlive(d)
		})
	}
}

// answerFrame returns a frame of an answer in DeepAgents' protocol.
func answerFrame(kind, text string) string {
	return `{"v":2,"type":"` + kind + `","id":"1","ts":"2025-10-14T10:30:00Z","agent_type":"main","md":"` + text + `"}`
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // also frees the memory that pools released in the first
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
