package main

import (
	"fmt"
	"os"
	"time"
)

// growth measures how the costs of an event, a delivery and a run grow with their number.
func (b *bench) growth() (string, error) {
	text, err := b.longRuns()
	if err != nil {
		return "", err
	}
	more, err := b.openRuns()
	if err != nil {
		return "", err
	}
	text += "\n" + more + "\n" + b.crowds() + "\n" + b.idle()
	return text, b.memory()
}

// memory measures the memory figures of the list of targets.
func (b *bench) memory() error {
	found, err := b.benchmarks("./exporter", "OpenRunMemory", "0.5s", 5)
	if err != nil {
		return err
	}
	b.found["run"] = found["OpenRunMemory B/run"].times(1e-3)
	if found, err = b.benchmarks("./test/e2e/cost", "Names", "250000x", 1); err != nil {
		return err
	}
	b.found["names"] = found["Names MiB"]
	if found, err = b.benchmarks("./test/e2e/cost", "Pipeline$/^(mix|deltas)$", "0.2s", 5); err != nil {
		return err
	}
	b.found["allocations"] = found["Pipeline/deltas allocs/event"]
	b.found["thousand"] = found["Pipeline/mix ns/op"].times(1e-6)
	return nil
}

// longRuns measures a run that grows by 1,000 events in each turn.
func (b *bench) longRuns() (string, error) {
	head, row := []any{"events of the run"}, []any{"1,000 events, through a run of as many"}
	for _, turns := range []int{10, 100, 1000, 10_000} {
		head = append(head, fmt.Sprint(turns*1000))
		if turns == 10_000 && !b.long || turns == 1000 && b.quick {
			row = append(row, notMeasured)
			continue
		}
		count := 5
		if turns >= 1000 {
			count = 1 // there are hundreds of rounds in one
		}
		benchtime := fmt.Sprint(turns, "x")
		found, err := b.benchmarks("./test/e2e/cost", "^BenchmarkLongStream$", benchtime, count)
		if err != nil {
			return "", err
		}
		row = append(row, found["LongStream x/short"])
		b.found["long"] = found["LongStream x/short"]
	}
	var t table
	t.row(head...)
	t.row(row...)
	return t.String(), nil
}

func (b *bench) openRuns() (string, error) {
	found, err := b.benchmarks("./test/e2e/cost", "^BenchmarkBesideOpenRuns$", "0.7s", 5)
	if err != nil {
		return "", err
	}
	var t table
	head, row := []any{"open runs"}, []any{"a run of the mix, through it alone"}
	for _, open := range []string{"1", "100", "1000", "10000"} {
		head = append(head, open)
		row = append(row, found["BesideOpenRuns/"+open+" x/plain"])
	}
	t.row(head...)
	t.row(row...)
	b.found["beside"] = found["BesideOpenRuns/10000 x/plain"]
	return t.String(), nil
}

var counts = []int{1, 10, 100, 1000, 5000}

// crowds measures the cost of a delivery with more subscribers.
func (b *bench) crowds() string {
	cost := b.perFrame("", func(p *publisher, n int) (float64, error) {
		total, frames := 0.0, min(1000, 200_000/n)
		for range max(1, min(10, 100_000/n/frames)) {
			seconds, err := p.deliver(frames, 0)
			if err != nil {
				return 0, err
			}
			total += seconds / float64(frames)
		}
		return total / float64(n), nil
	})
	var t table
	head, row := []any{"subscribers"}, []any{"CPU time of a delivery, through that to 100"}
	for _, n := range counts {
		head, row = append(head, fmt.Sprint(n)), append(row, cost[n].through(cost[100]))
	}
	t.row(head...)
	t.row(row...)
	return t.String()
}

// idle measures the cost of publishing with more subscribers that wait for something else.
func (b *bench) idle() string {
	cost := b.perFrame("/events/other", func(p *publisher, _ int) (float64, error) {
		const frames = 200_000 // enough for garbage collections, which scan every subscriber, in each round
		before := processorTime(p.process.pid)
		if err := p.publish(frames, false); err != nil {
			return 0, err
		}
		settle(p.process.pid)
		return (processorTime(p.process.pid) - before).Seconds() / frames, nil
	})
	var t table
	head, row := []any{"subscribers to another session"}, []any{"CPU time of publishing a frame, through that with 1"}
	for _, n := range counts {
		head, row = append(head, fmt.Sprint(n)), append(row, cost[n].through(cost[1]))
	}
	t.row(head...)
	t.row(row...)
	b.found["idle"] = cost[5000].through(cost[1])
	return t.String()
}

// perFrame measures audiences of all sizes alternately.
func (b *bench) perFrame(path string, measure func(p *publisher, n int) (float64, error)) map[int]samples {
	rounds := 7
	if b.quick {
		rounds = 1
	}
	begin, found, audiences := time.Now(), map[int]samples{}, map[int]*publisher{}
	for _, n := range counts {
		p, err := b.audience(0, n, path)
		if err != nil {
			fmt.Fprintf(os.Stderr, "%d subscribers are not measured: %v\n", n, err)
			continue
		}
		defer p.stop()
		audiences[n] = p
	}
	for round := range rounds + 1 {
		for i := range counts {
			n := counts[(round+i)%len(counts)]
			p := audiences[n]
			if p == nil {
				continue
			}
			cost, err := measure(p, n)
			if err != nil {
				fmt.Fprintf(os.Stderr, "%d subscribers are not measured: %v\n", n, err)
				delete(audiences, n)
				delete(found, n)
				continue
			}
			if round > 0 { // the first warms up
				found[n] = append(found[n], cost)
			}
		}
	}
	fmt.Fprintf(os.Stderr, "%s: %.0f s\n", path, time.Since(begin).Seconds())
	return found
}
