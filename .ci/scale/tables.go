package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// table is a table of docs/design/scale.md, between two comments with its name.
type table struct{ name, text string }

const seed = 1

// sizes returns the loads that the tables show. The last one is the target of the design.
func sizes() []size {
	return []size{{100, 1e3, 1e4}, {1e3, 1e4, 1e5}, {1e4, 1e5, 1e6}}
}

// tables returns the tables of the document.
func tables(f *figures) []table {
	var plans []*plan
	last := len(sizes()) - 1
	for _, s := range sizes()[:last] {
		plans = append(plans, least(f, s, atRandom, seed))
	}
	plans = append(plans, least(f, sizes()[last], bySession, seed))
	return []table{{"processes", processesTable(f, plans)}, {"breaks", breaksTable(f)}}
}

// basis returns the tables that the document leaves out: what the model is based on, its extremes, and what readers notice.
func basis(f *figures) []table {
	largest := least(f, sizes()[len(sizes())-1], bySession, seed)
	all := []table{{"costs", costsTable(f)}, {"assumptions", assumptionsTable()}, {"shards", shardsTable(f)}, {"scenarios", scenariosTable(largest)}}
	if len(f.Checks) > 0 && len(f.Cluster) > 0 {
		all = append(all, table{"check", checksTable(f)})
	}
	return all
}

func row(cells ...any) string {
	var b strings.Builder
	for _, c := range cells {
		fmt.Fprintf(&b, "| %v ", c)
	}
	return b.String() + "|\n"
}

// item returns an item of a list.
func item(what, value string) string { return fmt.Sprintf("- %s: %s\n", what, value) }

func head(titles ...any) string {
	return row(titles...) + strings.Repeat("|-", len(titles)) + "|\n"
}

func costsTable(f *figures) string {
	b := head("what", "median", "lowest, highest", "benchmark")
	for _, c := range f.Costs {
		show := func(v float64) string { return number(v/1e3) + " µs" }
		if !strings.Contains(c.Metric, "ns/") {
			show = func(v float64) string { return amount(v) }
		}
		b += row(c.Name, show(c.median()), show(slices.Min(c.Runs))+", "+show(slices.Max(c.Runs)), "`"+c.Benchmark+"`, `"+c.Metric+"`")
	}
	m := f.Machine
	return b + fmt.Sprintf("\n%d × %s, Linux %s, %s, nats-server %s, %s, load averages %s.\n",
		m.Processors, m.Processor, m.Kernel, m.Go, strings.TrimPrefix(m.NATS, "nats-server: "), m.Date, strings.Join(strings.Fields(m.Load)[:3], ", "))
}

func assumptionsTable() string {
	b := head("name", "value", "why")
	for _, a := range [][3]any{
		{"`speaking`", fmt.Sprintf("%g events/s", speaking), "a model's deltas; assumed"},
		{"`runTime`, `thinkTime`", fmt.Sprintf("%g s, %g s, log-normal", runTime, thinkTime), fmt.Sprintf("assumed; a session averages %g events/s", agentsRate)},
		{"`packet`", fmt.Sprintf("%g events, geometric", packet), "agents flush several at once; assumed"},
		{"`tail`, `mostReaders`", fmt.Sprintf("Pareto, α = %g, at most %s", tail, number(mostReaders)), "few sessions have most readers; assumed"},
		{"`visit`", fmt.Sprintf("%g s", visit), "how long a reader stays; assumed"},
		{"`gatewayCores`, `serverCores`", fmt.Sprintf("%g, %g", gatewayCores, serverCores), "chosen"},
		{"`hop`", fmt.Sprintf("%g ms", hop*1e3), "one way in a data center; assumed"},
		{"one core takes a stream", "1", "one server orders the messages of a stream, under one lock; that all of this is one core is assumed, as the worst case"},
		{"`electLeast`, `electMost`", fmt.Sprintf("%g s, %g s", electLeast, electMost), "`minElectionTimeoutDefault`, `maxElectionTimeoutDefault` of nats-server v2.15.2, server/raft.go"},
		{"`retryLeast`, `retryMost`", fmt.Sprintf("%g s, %g s", retryLeast, retryMost), "what a stopping gateway tells its readers; assumed for one that is killed"},
		{"`grace`, `heartbeat`", fmt.Sprintf("%g s, %g s", grace, heartbeat), "the product's"},
		{"`chunk`", fmt.Sprint(chunk), "readers of a session at one gateway, by session; chosen"},
		{"`sidecarRAM`", amount(sidecarRAM), "`resources.requests.memory` of the chart"},
		{"`overhead`, `frameSize`", fmt.Sprintf("%g, %d bytes", overhead, frameSize), "bytes on the wire per byte of message, assumed; 612 bytes of data as in the benchmarks, and framing"},
	} {
		b += row(a[:]...)
	}
	return b
}

// amount returns a number of bytes in decimal units.
func amount(n float64) string {
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if n < 1000 {
			return fmt.Sprintf("%.3g %s", n, unit)
		}
		n /= 1000
	}
	return fmt.Sprintf("%.3g TB", n)
}

// number returns a number with three significant digits.
func number(v float64) string {
	if v < 1000 {
		return fmt.Sprintf("%.3g", v)
	}
	digits := math.Pow(10, math.Floor(math.Log10(v))-2)
	text := fmt.Sprintf("%.0f", math.Round(v/digits)*digits)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// power returns a number as a power of ten.
func power(v float64) string {
	return "10" + string([]rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[int(math.Round(math.Log10(v)))])
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

func processesTable(f *figures, plans []*plan) string {
	titles := []any{"what"}
	for _, p := range plans {
		titles = append(titles, fmt.Sprintf("%s agents, %s events/s, %s readers %s", power(p.agents), power(p.events), power(p.readers), p.way))
	}
	b := head(titles...)
	add := func(what string, value func(p *plan) string) {
		cells := []any{what}
		for _, p := range plans {
			cells = append(cells, value(p))
		}
		b += row(cells...)
	}
	mean := func(p *plan, of func(*cell) float64) (sum float64) {
		for _, c := range p.cells {
			sum += of(c)
		}
		return sum / float64(len(p.cells))
	}
	each := func(p *plan) float64 { return mean(p, func(c *cell) float64 { _, each := c.feeds(); return each }) }
	feeds := func(p *plan) float64 {
		return mean(p, func(c *cell) float64 { all, _ := c.feeds(); return float64(all) }) * float64(len(p.cells))
	}
	deliveries := func(p *plan) float64 {
		return mean(p, func(c *cell) float64 { return float64(c.readers()) }) * float64(len(p.cells)) * agentsRate
	}
	message := f.of(messageSize)
	add("memory of all sidecars, requested and at rest", func(p *plan) string {
		rest := "not measured"
		if len(f.Checks) > 0 {
			rest = amount(p.agents * f.Checks[0].Idle.Sidecar)
		}
		return amount(p.agents*sidecarRAM) + ", " + rest
	})
	add("**streams**, each in an account", func(p *plan) string { return fmt.Sprint(len(p.cells)) })
	add("**NATS servers**", func(p *plan) string { return fmt.Sprint(p.servers) })
	add("memory of a server", func(p *plan) string {
		return amount((p.events/agentsRate*replicas*f.of(sessionSize) + feeds(p)*f.of(feedSizeNATS) + (p.agents+float64(p.gateways()))*f.of(connectionSize)) / float64(p.servers))
	})
	add("network into NATS, between servers, out", func(p *plan) string {
		in := p.events * message * overhead
		return fmt.Sprintf("%s/s, %s/s, %s/s", amount(in), amount(2*in), amount(in*each(p)))
	})
	add("disk of a server, an hour ¹", func(p *plan) string { return amount(p.events * replicas / float64(p.servers) * message * 3600) })
	add("**gateways**", func(p *plan) string { return fmt.Sprint(p.gateways()) })
	add("readers, feeds of a gateway ²", func(p *plan) string {
		n := float64(p.gateways())
		return number(p.readers/n) + ", " + number(feeds(p)/n)
	})
	add("network to the readers", func(p *plan) string { return amount(deliveries(p)*frameSize*overhead) + "/s" })
	return b
}

// breaksTable returns the list of the load at which each part alone reaches its limit.
func breaksTable(f *figures) string {
	leader := effective(f.seconds(leaderIdle), f.seconds(leaderBusy))
	single := effective(f.seconds(singleIdle), f.seconds(singleBusy))
	delivery := f.seconds(deliveryMany)
	b := item("events/s into one stream, three replicas", number(target/leader))
	b += item("events/s into one stream, one replica", number(target/single))
	for _, events := range []float64{1000, 10_000} {
		b += item(fmt.Sprintf("feeds that an event can have, %s events/s in the stream ³", number(events)), number(target*replicas*serverCores/events/f.reading(events/speaking)))
	}
	b += item(fmt.Sprintf("deliveries/s of a gateway of %g cores", gatewayCores), number(target*gatewayCores/delivery))
	b += item("readers of a session that speaks, at one gateway", number(target*gatewayCores/delivery/speaking))
	b += item("readers that come/s to a gateway, without TLS", number(target*gatewayCores/f.seconds(connecting)))
	b += item("feeds opened/s at three servers", number(target*replicas*serverCores/f.seconds(openingCluster)))
	return b
}

func scenariosTable(p *plan) string {
	b := head("what happens", "p50", "p99", "longest", "above 1 s")
	add := func(name string, c *cell, what scenario) {
		o := c.simulate(what, seed)
		b += row(name, duration(o.p50), duration(o.p99), duration(o.worst), fmt.Sprintf("%.2g %%", 100*o.above))
	}
	add("nothing happens, an average stream", p.middling(), steady)
	for _, what := range scenarios() {
		add(string(what), p.largest(), what)
	}
	return b
}

func duration(seconds float64) string {
	if seconds < 1 {
		return number(math.Round(seconds*1e3)) + " ms"
	}
	return fmt.Sprintf("%.1f s", seconds)
}
