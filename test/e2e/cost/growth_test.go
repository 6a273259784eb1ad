package cost_test

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"slices"
	"testing"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// BenchmarkLongStream compares 1,000 events of the mix at the end of a long run with 1,000 events of a new run. The run grows by
// 1,000 events an iteration: -benchtime 10000x ends at ten million.
func BenchmarkLongStream(b *testing.B) {
	mixed, sink := mix(1000), newSink(true)
	long := &portions{more: make(chan []byte), read: make(chan struct{})}
	done := make(chan error, 1)
	c := collector.New(collector.Dialects(), settings.Collector(config.Default()), sink)
	go func() {
		done <- c.Observe(harness.ProxyStream(), collector.Input{Reader: long, ReceivedAt: harness.ReceiveClock}, "")
	}()
	<-long.read
	portion := 0
	next := func() workload { // with new call ids
		portion++
		return workload{streams: [][]byte{bytes.ReplaceAll(mixed, []byte(`"adk-0000000000`), fmt.Appendf(nil, `"adk-%010d`, portion))}}
	}
	var ratios []float64
	for b.Loop() {
		short := next().through(b, sink)
		rest := next().streams[0]
		grow := func() { long.more <- rest; <-long.read }
		ratios = append(ratios, ratio(len(ratios)%2 == 0, short, grow))
	}
	close(long.more)
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	last := ratios[len(ratios)-max(1, len(ratios)/10):]
	slices.Sort(last)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(last[len(last)/2], "x/short")
}

// portions is a stream that delivers its bytes in portions, the next one after everything before was observed.
type portions struct {
	rest []byte
	more chan []byte
	read chan struct{}
}

func (p *portions) Read(into []byte) (int, error) {
	if len(p.rest) == 0 {
		p.read <- struct{}{}
		more, ok := <-p.more
		if !ok {
			return 0, io.EOF
		}
		p.rest = more
	}
	n := copy(into, p.rest)
	p.rest = p.rest[n:]
	return n, nil
}

// BenchmarkBesideOpenRuns compares the cost of a run while many others are open, up to the limit, with the cost of the run alone.
func BenchmarkBesideOpenRuns(b *testing.B) {
	l := workloads(b)[0]
	for _, open := range []int{1, 100, 1000, config.Default().Runs.MaxOpen} {
		b.Run(fmt.Sprint(open), func(b *testing.B) {
			crowded := newSink(true)
			for range open - 1 {
				crowded.Open(harness.ProxyStream())
			}
			inTurns(b, l.through(b, newSink(true)), l.through(b, crowded))
		})
	}
}

// BenchmarkNames sends new names of an agent, a tool, a model and a call with every frame, and reports how much the
// heap grew. -benchtime 1000000x shows the memory for a million of each.
func BenchmarkNames(b *testing.B) {
	stream, agent := io.Pipe()
	c := collector.New(collector.Dialects(), settings.Collector(config.Default()), newSink(true))
	done := make(chan error, 1)
	go func() {
		done <- c.Observe(harness.ProxyStream(), collector.Input{Reader: stream, ReceivedAt: harness.ReceiveClock}, "")
	}()
	before := heap()
	for n := 0; b.Loop(); n++ {
		fmt.Fprintf(agent, `data: {"modelVersion":"model-%[1]d","content":{"parts":[{"functionCall":{"id":"call-%[1]d","name":"tool-%[1]d"}}]},`+
			`"finishReason":"STOP","invocationId":"e-1","author":"agent-%[1]d"}`+"\n\n", n)
	}
	b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
	agent.Close()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
