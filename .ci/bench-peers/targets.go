package main

import (
	"fmt"
	"strings"
)

// goal is a target value of a figure.
type goal struct {
	what, target string
	reached      []result
}

// result is one figure with its samples. good reports whether a value meets the goal.
type result struct {
	of    string // the subject, if the figure has several
	found samples
	unit  string
	good  func(float64) bool
}

func atMost(limit float64) func(float64) bool  { return func(f float64) bool { return f <= limit } }
func atLeast(limit float64) func(float64) bool { return func(f float64) bool { return f >= limit } }
func flat(f float64) bool                      { return f >= 0.9 && f <= 1.1 }

// targets returns the list of goals, which are compared with the medians of this run.
func (b *bench) targets() (string, error) {
	one := func(key, unit string, good func(float64) bool) []result {
		return []result{{"", b.found[key], unit, good}}
	}
	both := func(prefix, suffix string, good func(float64) bool) []result {
		return []result{{"verbatim ", b.found[prefix+"verbatim"+suffix], "×", good}, {"filtered ", b.found[prefix+"filtered"+suffix], "×", good}}
	}
	goals := []goal{
		{"decode, filter and metrics, mix", "≤ 2×", one("pipeline/metrics", "×", atMost(2))},
		{"all of it with spans, mix", "≤ 3×", one("pipeline/spans", "×", atMost(3))},
		{"allocations for each delta", "≤ 2", one("allocations", "", atMost(2))},
		{"1,000 events of the mix", "< 50 ms", one("thousand", " ms", atMost(50))},
		{"cost of an event at the end of the longest run", "0.9–1.1×", one("long", "×", flat)},
		{"cost of a run beside 10,000 open ones", "0.9–1.1×", one("beside", "×", flat)},
		{"cost of publishing beside 5,000 idle subscribers", "0.9–1.1×", one("idle", "×", flat)},
		{"p50 through the proxy, 1 stream", "≤ 1.15×", both("proxy/1/", "/ProxyRoundTrip/p50", atMost(1.15))},
		{"p99 through the proxy, 1 stream", "≤ 1.3×", both("proxy/1/", "/ProxyRoundTrip/p99", atMost(1.3))},
		{"throughput through the proxy, 1 stream", "≥ 0.7×", both("proxy/1/", "/ProxyThroughput/speed", atLeast(0.7))},
		{"fan-out against a write for each frame and socket, 100 / 1,000 / 5,000", "≥ 4×", []result{
			{"", b.found["fan-out/100/x-plain"], "×", atLeast(4)}, {"", b.found["fan-out/1000/x-plain"], "×", atLeast(4)}, {"", b.found["fan-out/5000/x-plain"], "×", atLeast(4)},
		}},
		{"fan-out against raw writes of joined frames, 100 / 1,000 / 5,000", "≥ 0.5×", []result{
			{"", b.found["fan-out/100/x-joined"], "×", atLeast(0.5)}, {"", b.found["fan-out/1000/x-joined"], "×", atLeast(0.5)}, {"", b.found["fan-out/5000/x-joined"], "×", atLeast(0.5)},
		}},
		{"fan-out to 1,000 against nchan", "≥ 4×", []result{
			{"flat out ", b.found["fan-out/"+flatOut(1000).title+"/nchan"], "×", atLeast(4)},
			{"a frame every ms ", b.found["fan-out/"+everyMillisecond.title+"/nchan"], "×", atLeast(4)},
		}},
		{"fan-out at an agent's pace, 100 / 1,000 / 5,000, against nchan", "≥ 1×", b.atPace("nchan")},
		{"the same, against tmaxmax/go-sse", "≥ 1×", b.atPace("tmaxmax/go-sse")},
		{"the same, against r3labs/sse", "≥ 1×", b.atPace("r3labs/sse")},
		{"fan-out to 1,000 flat out, against Go libraries", "≥ 10×", []result{
			{"tmaxmax/go-sse ", b.found["fan-out/"+flatOut(1000).title+"/tmaxmax/go-sse"], "×", atLeast(10)},
			{"r3labs/sse ", b.found["fan-out/"+flatOut(1000).title+"/r3labs/sse"], "×", atLeast(10)},
		}},
		{"an idle subscriber", "≤ 12 KB", one("subscriber", " KB", atMost(12))},
		{"an open run with 20 operations", "≤ 10 KB", one("run", " KB", atMost(10))},
		{"heap for a million new names", "≤ 20 MiB", one("names", " MiB", atMost(20))},
		{"the idle process", "≤ 18 MB", one("rest", " MB", atMost(18))},
	}
	var list strings.Builder
	for _, g := range goals {
		fmt.Fprintf(&list, "- %s (%s): %s, %s\n", g.what, g.target, g.texts(), g.verdict())
	}
	return list.String(), nil
}

// atPace returns the deliveries of this program divided by those of another server, for each crowd that waits for
// each frame.
func (b *bench) atPace(server string) (reached []result) {
	for _, c := range talking {
		reached = append(reached, result{"", b.found["fan-out/"+c.title+"/"+server], "×", atLeast(1)})
	}
	return reached
}

func (g goal) texts() (text string) {
	for i, r := range g.reached {
		if i > 0 {
			text += "; "
		}
		text += r.of + r.found.String()
		if len(r.found) > 0 {
			text += r.unit
		}
	}
	return text
}

func (g goal) verdict() string {
	met, missed := 0, 0
	for _, r := range g.reached {
		switch {
		case len(r.found) == 0:
		case r.good(r.found.median()):
			met++
		default:
			missed++
		}
	}
	switch {
	case met+missed == 0:
		return notMeasured
	case missed == 0:
		return "met"
	case met == 0:
		return "missed"
	default:
		return fmt.Sprintf("met by %d of %d", met, met+missed)
	}
}
