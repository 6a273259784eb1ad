package main

import "math"

// Values for the table of a million agents.
const (
	maxConnections = 65_536                          // of a server, by default: DEFAULT_MAX_CONNECTIONS in server/const.go of nats-server v2.15.2
	shardMemory    = (44_320 - 28_404) * 1024 / 63.0 // of a sidecar, for each shard: VmRSS at rest with 64 and with 1, measured on 23 November 2026
	maxShards      = 100                             // in one configuration: config/shards.go
	seriesOfAgent  = 1665.0 / 6                      // of a sidecar with an agent, two tools and a model: exporter/metrics, TestSixSmallSources
)

// million is the load of the table.
var million = size{1e6, 1e7, 1e7}

// group is a number of agents with one list of shards. Each of their sidecars connects to each shard.
type group struct {
	plan   *plan
	groups float64
}

// connections returns the connections of a server. All servers together have those of all sidecars and gateways.
func (g group) connections() float64 {
	return (g.plan.agents*g.shards() + float64(g.plan.gateways())*g.shards()) / float64(g.plan.servers)
}

// shards returns the streams of a group.
func (g group) shards() float64 { return math.Ceil(float64(len(g.plan.cells)) / g.groups) }

// fewest returns the fewest groups that a server's connections and a configuration's shards allow.
func fewest(p *plan) group {
	g := group{p, 1}
	for g.connections() > maxConnections || g.shards() > maxShards {
		g.groups++
	}
	return g
}

// shardsTable returns the table of a million agents: with one list of shards, and with as many lists as are needed.
func shardsTable(f *figures) string {
	p := least(f, million, bySession, seed)
	columns := []group{{p, 1}, fewest(p)}
	title := func(g group) string {
		if g.groups == 1 {
			return "one list of shards"
		}
		return number(g.groups) + " lists, each for its own agents"
	}
	b := head("what", title(columns[0]), title(columns[1]))
	add := func(what string, value func(g group) string) { b += row(what, value(columns[0]), value(columns[1])) }
	feeds := 0
	for _, c := range p.cells {
		all, _ := c.feeds()
		feeds += all
	}
	add("streams, all", func(group) string { return number(float64(len(p.cells))) })
	add("NATS servers of 8 cores, all", func(group) string { return number(float64(p.servers)) })
	add("**shards in a list**, of at most 100", func(g group) string { return number(g.shards()) })
	add("agents, readers of a list", func(g group) string { return number(p.agents/g.groups) + ", " + number(p.readers/g.groups) })
	add("memory of a sidecar for its shards", func(g group) string { return amount(g.shards() * shardMemory) })
	add("**connections of a server**, of at most 65,536 by default", func(g group) string { return number(g.connections()) })
	add("memory of a server", func(g group) string {
		return amount((p.events/agentsRate*replicas*f.of(sessionSize)+float64(feeds)*f.of(feedSizeNATS))/float64(p.servers) + g.connections()*f.of(connectionSize))
	})
	add("choice of the shard, of a sidecar's processor time for an event", func(g group) string {
		return percent(g.shards() * f.seconds(owner16) / 16 / (f.seconds(observe) + f.seconds(publish)))
	})
	add("gateways of 4 cores, all", func(group) string { return number(float64(p.gateways())) })
	add("series of all sidecars", func(group) string { return number(p.agents * seriesOfAgent) })
	add("memory of all sidecars, requested", func(group) string { return amount(p.agents * sidecarRAM) })
	return b
}
