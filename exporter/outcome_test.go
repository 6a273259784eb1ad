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

// TestIdleAfterTheClientLeft has the idle timeout pass while a run waits for a client to come back. The run ends with its stream,
// unless a client has come back, to which the agent is silent.
func TestIdleAfterTheClientLeft(t *testing.T) {
	for _, c := range []struct {
		name      string
		end       event.End
		comesBack bool
		want      string
	}{
		{"client left", event.EndClientLeft, false, "s canceled client_left after 20s"},
		{"stream broke off", event.EndBroken, false, "s incomplete broken_off after 20s"},
		{"client came back", event.EndClientLeft, true, "s timed_out idle after 20s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &ledger{begun: time.Now()}
				m := metrics.New(prometheus.NewRegistry(), metrics.Settings{Names: conventions.Released(), MaxLabelValues: 10, MaxLabelSets: 100})
				e := exporter.New(m, settings(20*time.Second), nil, l)
				d := exporter.NewDeduplicator(e, losses{})
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { e.Run(ctx, time.Now) })
				first := &event.Stream{Source: "s", Live: true, SingleRun: true, OpenedAt: time.Now(), Identity: event.Identity{Session: "s", InBackground: true}}
				d.Open(first)
				d.Consume(&event.Batch{Stream: first, Received: time.Now(), Run: "r", ContentHash: 1})
				time.Sleep(time.Second)
				d.Close(first, c.end, time.Now())
				if c.comesBack {
					time.Sleep(time.Second)
					d.Open(&event.Stream{Source: "s", Live: true, OpenedAt: time.Now(), Identity: event.Identity{JoinedRun: "r", InBackground: true}})
				}
				time.Sleep(40 * time.Second)
				l.since(t, c.want)
				cancel()
				running.Wait()
			})
		})
	}
}

// TestIdleAfterAnotherRun checks that a run does not end for the reason of an earlier one on its stream, which waits for a client.
func TestIdleAfterAnotherRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{begun: time.Now()}
		m := metrics.New(prometheus.NewRegistry(), metrics.Settings{Names: conventions.Released(), MaxLabelValues: 10, MaxLabelSets: 100})
		e := exporter.New(m, settings(20*time.Second), nil, l)
		d := exporter.NewDeduplicator(e, losses{})
		ctx, cancel := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { e.Run(ctx, time.Now) })
		session := &event.Stream{Source: "s", Live: true, OpenedAt: time.Now(), Identity: event.Identity{JoinedSession: "s", InBackground: true}}
		d.Open(session)
		d.Consume(&event.Batch{Stream: session, Received: time.Now(), Run: "1", Session: "s", ContentHash: 1})
		time.Sleep(time.Second)
		d.Consume(&event.Batch{Stream: session, Received: time.Now(), Run: "2", Session: "s", ContentHash: 2})
		time.Sleep(25 * time.Second)
		l.since(t, "s incomplete stream_ended after 20s", "s timed_out idle after 21s")
		cancel()
		running.Wait()
	})
}
