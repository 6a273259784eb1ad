package main

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
)

// BenchmarkLongStream gives the cost of 1,000 events of the mix at the end of a run, through that of as many in a run of their
// own. The run grows by 1,000 events an operation: -benchtime 10000x ends at ten million.
func BenchmarkLongStream(b *testing.B) {
	mixed, sink := mix(1000), wired(true)
	long := &portions{more: make(chan []byte), read: make(chan struct{})}
	done := make(chan error, 1)
	c := collector.New(collector.Dialects(), settings.Collector(config.Default()), sink)
	go func() { done <- c.Observe(answer(), collector.Input{Reader: long, Arrival: arrival}, "") }()
	<-long.read
	portion := 0
	next := func() workload { // no call has been there before
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

// portions is a stream whose bytes come some at a time, more when all before are observed.
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

// BenchmarkBesideOpenRuns gives the cost of a run while as many are open, at most as many as may be, through that of the run
// alone.
func BenchmarkBesideOpenRuns(b *testing.B) {
	l := workloads(b)[0]
	for _, open := range []int{1, 100, 1000, config.Default().Runs.MaxOpen} {
		b.Run(fmt.Sprint(open), func(b *testing.B) {
			crowded := wired(true)
			for range open - 1 {
				crowded.Open(answer())
			}
			inTurns(b, l.through(b, wired(true)), l.through(b, crowded))
		})
	}
}

// BenchmarkNames has every frame bring new names of an agent, a tool, a model and a call, and gives by how much the heap grew
// in all: -benchtime 1000000x says what a million of each take.
func BenchmarkNames(b *testing.B) {
	stream, agent := io.Pipe()
	c := collector.New(collector.Dialects(), settings.Collector(config.Default()), wired(true))
	done := make(chan error, 1)
	go func() { done <- c.Observe(answer(), collector.Input{Reader: stream, Arrival: arrival}, "") }()
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
