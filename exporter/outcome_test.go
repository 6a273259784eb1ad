package exporter_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/metrics"
)

// TestRunWithoutAnOutcome checks that a run on a tail ends one second after its stated end, even if the exporter was about to
// sleep longer.
func TestRunWithoutAnOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{begun: time.Now()}
		m := metrics.New(prometheus.NewRegistry(), metrics.Settings{Names: conventions.Released(), MaxLabelValues: 10, MaxLabelSets: 100})
		e := exporter.New(m, settings(time.Hour), nil, l)
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { e.Run(ctx, time.Now) })
		synctest.Wait()
		stream := &event.Stream{Source: "tail", Live: true, OpenedAt: time.Now(), Identity: event.Identity{Session: "s"}}
		e.Open(stream)
		b := &event.Batch{Stream: stream, Received: time.Now(), Run: "r"}
		b.Add(event.KindFinal)
		b.Add(event.KindRunEnded).AwaitsOutcome = true
		e.Consume(b)
		l.since(t)
		time.Sleep(2 * time.Second)
		l.since(t, "s completed  after 1s")
		cancel()
		running.Wait()
	})
}
