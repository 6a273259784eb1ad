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

// TestDeliver has batches wait until their stream is over, or be delivered while it is still decoded: the sink is told what it is
// told of a stream that is observed frame by frame, also of frames that came before the dialect was known.
func TestDeliver(t *testing.T) {
	huge := `{"n":"` + strings.Repeat("x", limits.Frame) + `"}`
	for name, sent := range map[string]string{
		"plain":               stream(yesX, none, `{"n":"panic","panic":1}`, `{"n":`, none) + "data: {",
		"too large at first":  stream(huge, huge, yesY, none),
		"not known for long":  stream(append(many(7, none), yesX, none)...),
		"never known":         stream(many(8, none)...),
		"held until its end":  stream(maybeY, none),
		"states all it may":   stream(yesX, `{"n":"full","facts":16384}`, none),
		"states more than it": stream(yesX, `{"n":"full","facts":16385}`, none),
	} {
		t.Run(name, func(t *testing.T) {
			observed := &recorder{}
			pipeline := func(r *recorder) *collector.Collector {
				return collector.New([]dialect.Dialect{fake("x"), fake("y")}, limits, r)
			}
			if err := pipeline(observed).Observe(&event.Stream{}, collector.Input{Reader: strings.NewReader(sent)}); err != nil {
				t.Fatal(err)
			}
			for room, when := range map[int]string{1 << 10: "at the end", 0: "meanwhile"} {
				delivered := &recorder{}
				batches := make(chan *event.Batch, room)
				decode := func() {
					defer close(batches)
					d := pipeline(nil).Decode(&event.Stream{}, collector.Input{Reader: strings.NewReader(sent), Arrival: func() time.Time { return time.Time{} }})
					for _, err := d.Next(); err == nil; _, err = d.Next() {
						batches <- d.Detach()
					}
				}
				if room > 0 {
					decode()
				} else {
					go decode()
				}
				pipeline(delivered).Deliver(&event.Stream{}, func() *event.Batch { return <-batches }, func() (event.End, time.Time) { return event.EndOfStream, time.Time{} })
				if diff := cmp.Diff(observed.told, delivered.told); diff != "" {
					t.Errorf("%s: %s", when, diff)
				}
			}
		})
	}
}

// TestCostIsTrue holds what detached batches say that they cost against what they take: queues are bounded by it.
func TestCostIsTrue(t *testing.T) {
	pieces := strings.Repeat(`{"data":1},`, 2000)
	for name, c := range map[string]struct{ dialect, sent string }{
		"deltas": {"adk", stream(many(500, `{"invocationId":"e-1","author":"a","partial":true,"content":{"parts":[{"text":"This \n"}]}}`)...)},
		"calls": {"adk", stream(many(50, `{"invocationId":"e-1","author":"a","content":{"parts":[`+
			strings.Repeat(`{"functionCall":{"id":"c","name":"f","args":{"q":[1,2,3]}}},`, 200)+`{}]}}`)...)},
		"pieces of artifacts": {"a2a", stream(many(20, `{"jsonrpc":"2.0","result":{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":{"artifactId":"f","parts":[`+pieces+`{"data":1}]}}}}`)...)},
		"keys of state":       {"agui", stream(many(100, `{"type":"STATE_SNAPSHOT","snapshot":{`+strings.Repeat(`"`+strings.Repeat("k", 200)+`":1,`, 1)+`"b":2}}`)...)},
		"embedded JSON":       {"agui", stream(many(50, `{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"[`+strings.Repeat(`\"x\",`, 2000)+`1]"}`)...)},
		"assembled texts":     {"deepagents", strings.Repeat(stream(answerIn("content_start", ""), answerIn("content", strings.Repeat(`x\n`, 10_000)), answerIn("content_end", "")), 30)},
	} {
		t.Run(name, func(t *testing.T) {
			settings := limits
			settings.Frame = 1 << 20
			d := collector.New(collector.Dialects(), settings, nil).Decode(&event.Stream{}, collector.Input{
				Reader: strings.NewReader(c.sent), Arrival: func() time.Time { return time.Time{} },
			}, c.dialect)
			var batches []*event.Batch
			before := heap()
			for b, err := d.Next(); err != io.EOF; b, err = d.Next() {
				if err != nil || b.Rejected != "" {
					t.Fatalf("%v, rejected %q", err, b.Rejected)
				}
				batches = append(batches, d.Detach())
			}
			takes, says := int(heap()-before), 0
			for _, b := range batches {
				says += b.Cost()
			}
			if least := takes * 9 / 10; says < least || says > 2*takes {
				t.Errorf("%d batches take %d bytes and say %d", len(batches), takes, says)
			}
			t.Logf("%d batches take %d bytes and say %d", len(batches), takes, says)
			runtime.KeepAlive(d)
		})
	}
}

// answerIn is a frame of an answer in DeepAgents' protocol.
func answerIn(kind, text string) string {
	return `{"v":2,"type":"` + kind + `","id":"1","ts":"2025-10-14T10:30:00Z","agent_type":"main","md":"` + text + `"}`
}

func heap() uint64 {
	runtime.GC()
	runtime.GC() // what a pool let go with the first
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
