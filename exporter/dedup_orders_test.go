package exporter_test

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/filter"
	"github.com/delegraph/delegraph/exporter/stream/replay"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestListenersInAnyOrder observes the streams of one run in every order that is possible for a source. The spans,
// metrics and published frames must be the same each time. The steps are those of TestListeners, and "ab:x" is a frame
// that two streams receive at the same time.
func TestListenersInAnyOrder(t *testing.T) {
	for _, c := range []struct {
		name, steps string
		orders      int // the least number of orders that the case must have
	}{
		{"one listener", "+a a:begin +b? b:begin^ ab:x ab:y ab:end -a -b", 20},
		{"the listener ends first", "+a a:begin +b? b:begin^ ab:x ab:end -b -a", 6},
		{"both end at the same time", "+a a:begin +b? b:begin^ ab:x ab:end -ab", 6},
		{"what came before the listener", "+a a:begin a:x +b? b:begin^ ab:x ab:x ab:end -a -b", 20},
		{"a client that goes over to the listener", "+a a:begin +b? b:begin^ ab:x -a. b:y b:end -b", 3},
		{"the listener's client leaves", "+a a:begin +b? b:begin^ ab:x -b. a:y a:end -a", 3},
		{"a listener that is served once the client has left", "+a a:begin +b? -a. b:begin^ b:end -b", 1},
		{"an error that both hear", "+a a:begin +b? b:begin^ ab:fail! -a -b", 3},
		{"an error after the request's client left", "+a a:begin +b? b:begin^ -a. b:fail! -b", 1},
		{"two listeners", "+a a:begin +b? b:begin^ ab:x +c? c:begin^ abc:end -a -b -c", 50},
		{"two listeners that stay", "+a a:begin +b? +c? bc:begin^ abc:x -a. bc:end -bc", 50},
		{"a message to the run", "+a a:begin +b! ab:x ab:y ab:end -a -b", 20},
	} {
		steps := arrivals(c.steps)
		var want string
		orders := 0
		everyOrder(steps, func(order []arrival) {
			if orders++; orders == 1 { // the order of arrival
				want = observed(t, order)
			} else if got := observed(t, order); got != want && !t.Failed() {
				t.Errorf("%s: observed as %s:\n%s\nbut as it came:\n%s", c.name, order, got, want)
			}
		})
		if runs := strings.Count(want, `"run":`); orders < c.orders || runs != 1 {
			t.Errorf("%s: %d orders, %d runs:\n%s", c.name, orders, runs, want)
		}
	}
}

// arrival is one thing that a source receives on a stream.
type arrival struct {
	step   string // as in TestListeners
	stream string
	at     int // in seconds
}

func (a arrival) String() string { return a.step }

func arrivals(steps string) (all []arrival) {
	for at, step := range strings.Fields(steps) {
		streams, frame, isFrame := strings.Cut(step, ":")
		streams = strings.Trim(streams, "+-.?!")
		for _, name := range strings.Split(streams, "") {
			one := step[:1] + name + step[min(1+len(streams), len(step)):]
			if isFrame {
				one = name + ":" + frame
			}
			all = append(all, arrival{one, name, at + 1})
		}
	}
	return all
}

// everyOrder calls do with every order in which a source may observe what it receives. The first is the order of arrival. The
// order across streams that event.Sink promises is kept.
func everyOrder(steps []arrival, do func([]arrival)) {
	listens := func(name string) bool {
		return slices.ContainsFunc(steps, func(s arrival) bool { return s.step == "+"+name+"?" })
	}
	follows := func(later, earlier arrival) bool {
		opens, ended := later.step[0] == '+' && len(later.step) > 2, earlier.step[0] == '-' || later.step[0] == '-'
		return later.stream == earlier.stream ||
			later.at > earlier.at && (opens || ended && (listens(later.stream) || listens(earlier.stream) || earlier.step[0] == '+' && len(earlier.step) > 2))
	}
	var extend func(order, rest []arrival)
	extend = func(order, rest []arrival) {
		if len(rest) == 0 {
			do(order)
		}
		for i, next := range rest {
			if !slices.ContainsFunc(rest[:i], func(earlier arrival) bool { return follows(next, earlier) }) {
				extend(append(order[:len(order):len(order)], next), slices.Concat(rest[:i], rest[i+1:]))
			}
		}
	}
	extend(nil, steps)
}

// observed returns the runs, metrics and published frames that result from an order.
func observed(t *testing.T, order []arrival) string {
	t.Helper()
	var out strings.Builder
	reg := prometheus.NewRegistry()
	m := testMetrics(reg)
	publisher := stream.NewPublisher(filter.Settings{Policy: event.PolicyClient}, func(e replay.Entry) {
		fmt.Fprintf(&out, "published %s %s %s%s over=%t %d\n", e.Run, e.Session, e.Name, e.Data, e.StreamEnded, e.Ordinal)
	}, func(filter.Reason) {})
	s := exporter.NewDeduplicator(exporter.New(m, settings(time.Hour), []exporter.Sink{{Component: recovery.Stream, Sink: publisher}}, reports{t, &out}), losses{})
	streams := map[string]*event.Stream{}
	for _, step := range order {
		at := time.Unix(int64(step.at), 0).UTC()
		switch {
		case step.step[0] == '+':
			of := &event.Stream{Source: "s", Dialect: "a2a", Nonce: step.stream, OpenedAt: at, SingleRun: true, Live: true}
			of.Session, of.ParentSpan = "session", event.SpanContext{Trace: [16]byte{1}, Span: [8]byte{2}, Sampled: true}
			switch step.step[2:] {
			case "?":
				of.SingleRun, of.JoinedRun, of.Session, of.ParentSpan = false, "t", "", event.SpanContext{}
			case "!":
				of.Answers = []string{"t"}
			}
			streams[step.stream] = of
			s.Open(of)
		case step.step[0] == '-':
			end := event.EndOfStream
			if strings.HasSuffix(step.step, ".") {
				end = event.EndClientLeft
			}
			s.Close(streams[step.stream], end, at)
		default:
			s.Consume(frameOf(streams[step.stream], step, at))
		}
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&out, family); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func frameOf(of *event.Stream, step arrival, at time.Time) *event.Batch {
	name := strings.TrimRight(step.step[2:], "^!")
	said := fnv.New64()
	_, _ = said.Write([]byte(name))
	b := &event.Batch{}
	b.Begin(of, sse.Frame{Data: []byte(`{"said":"` + name + `"}`)}, at)
	b.Table = &event.Table{Types: map[string]event.Type{name: {Client: true}}}
	b.Parse(8)
	b.Run, b.Session, b.Agent, b.ContentHash, b.Type = "t", "session", "agent", said.Sum64(), name
	b.Snapshot, b.StreamError = strings.HasSuffix(step.step, "^"), strings.HasSuffix(step.step, "!")
	switch name {
	case "begin":
		b.Add(event.KindRunStarted)
	case "end":
		b.Add(event.KindFinal)
		b.Add(event.KindRunEnded)
	case "fail":
		e := b.Add(event.KindError)
		e.Error, e.Code = event.AgentError, "E1"
	default:
		b.Add(event.KindText).SetText([]byte(name))
	}
	return b
}

// reports writes the reports of ended runs.
type reports struct {
	t   *testing.T
	out *strings.Builder
}

func (reports) RunStarted(*tracker.Run)                         {}
func (reports) OperationEnded(*tracker.Run, *tracker.Operation) {}
func (r reports) RunEnded(run *tracker.Run) {
	text, err := run.Report().JSON()
	if err != nil {
		r.t.Error(err)
	}
	fmt.Fprintf(r.out, "%s trace %x\n", text, run.Trace)
}
