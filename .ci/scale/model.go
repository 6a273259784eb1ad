package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// What is assumed, and was not measured. The tables name them.
const (
	speaking     = 25.0  // events a second of a session while it has a run
	runTime      = 20.0  // seconds of a run, on average, log-normal
	thinkTime    = 60.0  // seconds between two runs of a session, the same
	packet       = 4.0   // events that leave an agent at once, on average, geometric
	tail         = 1.2   // of the Pareto distribution of the readers of a session
	mostReaders  = 2e4   // of one session
	visit        = 600.0 // seconds for which a reader stays, on average
	gatewayCores = 4.0
	serverCores  = 8.0 // of a NATS server
	hop          = 0.0005
	target       = 0.6 // the utilisation that nothing may be above
	agentsRate   = speaking * runTime / (runTime + thinkTime)
)

// What the product and others say of themselves.
const (
	heartbeat  = 15.0 // seconds: stream.heartbeat
	grace      = 10.0 // seconds in which readers leave a gateway that stops
	retryLeast = 0.5  // seconds after which a reader comes back that was sent away
	retryMost  = 5.0
	electLeast = 4.0 // seconds after which a server that hears no leader stands for election: nats-server, raft.go
	electMost  = 9.0
	replicas   = 3.0
	chunk      = 500       // readers of a session at one gateway, before the next one gets some, where the way goes by session
	sidecarRAM = 128 << 20 // requested by the chart
	overhead   = 1.1       // of a network's protocols: bytes on the wire, by bytes of messages
	frameSize  = 650       // of an event on its way to a reader, with id and line ends: those of the benchmarks have 612 bytes of data
)

// size is what there is to be served.
type size struct {
	agents, events, readers float64
}

// way says how a reader comes to a gateway.
type way string

const (
	atRandom  way = "at random"
	bySession way = "by session"
)

// session is one of a cell's, with its readers at each gateway that has some.
type session struct {
	readers int
	at      []share
}

type share struct{ gateway, readers int }

// cell is one stream in NATS, in an account of its own: the sidecars that write it and the gateways that read it.
type cell struct {
	f        *figures
	sessions []session
	events   float64 // a second
	gateways int
	way      way
	cores    float64 // of the servers, for this stream
}

// sessions draws the readers of each session: few have most.
func sessions(s size, seed uint64) []int {
	random := rand.New(rand.NewPCG(seed, 1))
	weights := make([]float64, int(s.events/agentsRate))
	for i := range weights {
		weights[i] = math.Pow(1-random.Float64(), -1/tail)
	}
	readers := make([]int, len(weights))
	deal := func(each float64) (sum float64) {
		for i, w := range weights {
			readers[i] = int(math.Round(min(mostReaders, w*each)))
			sum += float64(readers[i])
		}
		return sum
	}
	least, most := 0.0, mostReaders
	for range 60 { // what the largest may not have, others do
		if middle := (least + most) / 2; deal(middle) < s.readers {
			least = middle
		} else {
			most = middle
		}
	}
	deal(most)
	return readers
}

// cells deals the sessions to so many cells.
func cells(f *figures, s size, n int, how way, seed uint64) []*cell {
	all := make([]*cell, n)
	for i := range all {
		all[i] = &cell{f: f, events: s.events / float64(n), way: how}
	}
	for i, readers := range sessions(s, seed) {
		all[i%n].sessions = append(all[i%n].sessions, session{readers: readers})
	}
	return all
}

// place deals the readers to so many gateways.
func (c *cell) place(gateways int, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 2))
	c.gateways = gateways
	counts := make([]int, gateways)
	for i := range c.sessions {
		s := &c.sessions[i]
		clear(counts)
		switch c.way {
		case atRandom:
			for range s.readers {
				counts[random.IntN(gateways)]++
			}
		case bySession:
			first, n := random.IntN(gateways), min(gateways, (s.readers+chunk-1)/chunk)
			for k := range n {
				counts[(first+k)%gateways] += s.readers * (k + 1) / n
				counts[(first+k)%gateways] -= s.readers * k / n
			}
		}
		s.at = nil
		for g, n := range counts {
			if n > 0 {
				s.at = append(s.at, share{g, n})
			}
		}
	}
}

// effective is the cost of work that sometimes wakes who does it: at a utilisation of 60 %, two times in five.
func effective(idle, busy float64) float64 { return busy + (1-target)*max(0, idle-busy) }

// busiest is the greatest utilisation of a gateway, with the session of most readers always speaking.
func (c *cell) busiest() float64 {
	f, duty := c.f, runTime/(runTime+thinkTime)
	feed, delivery := effective(f.seconds(feedIdle), f.seconds(feedBusy)), f.seconds(deliveryMany)
	loads, most := make([]float64, c.gateways), c.largest()
	for i, s := range c.sessions {
		speaks := duty
		if i == most {
			speaks = 1
		}
		for _, at := range s.at {
			n := float64(at.readers)
			loads[at.gateway] += speaks*speaking*(feed+n*delivery) + n*(1-speaks)/heartbeat*delivery + n/visit*f.seconds(connecting)
		}
	}
	greatest := 0.0
	for _, load := range loads {
		greatest = max(greatest, load/gatewayCores)
	}
	return greatest
}

func (c *cell) largest() (most int) {
	for i, s := range c.sessions {
		if s.readers > c.sessions[most].readers {
			most = i
		}
	}
	return most
}

// provide finds the least number of gateways that keeps the busiest below the target; false says that there is none.
func (c *cell) provide(seed uint64) bool {
	duty, work, most := runTime/(runTime+thinkTime), 0.0, c.largest()
	for i, s := range c.sessions {
		speaks := duty
		if i == most {
			speaks = 1
		}
		work += speaks * speaking * float64(s.readers) * c.f.seconds(deliveryMany)
	}
	for n := max(1, int(work/gatewayCores/target)); n < 1000; n = n + 1 + n/50 {
		if c.place(n, seed); c.busiest() <= target {
			return true
		}
	}
	return false
}

// feeds is how many there are, and through how many an event goes on average.
func (c *cell) feeds() (all int, each float64) {
	for _, s := range c.sessions {
		all += len(s.at)
	}
	return all, float64(all) / float64(max(1, len(c.sessions)))
}

func (c *cell) readers() (n int) {
	for _, s := range c.sessions {
		n += s.readers
	}
	return n
}

// behind is how many messages of others stand between two of a session that speaks.
func (c *cell) behind() float64 { return c.events / speaking }

// leader is the utilisation of the one core that takes a stream's messages.
func (c *cell) leader() float64 {
	return c.events * effective(c.f.seconds(leaderIdle), c.f.seconds(leaderBusy))
}

// work is what a stream takes of the processors of all servers.
func (c *cell) work() float64 {
	_, each := c.feeds()
	return c.events * (effective(c.f.seconds(leaderIdle), c.f.seconds(leaderBusy)) + (replicas-1)*c.f.seconds(followerBusy) + each*c.f.reading(c.behind()))
}

// plan is the least that keeps everything below the target.
type plan struct {
	size
	way     way
	cells   []*cell
	servers int
}

func (p *plan) gateways() (n int) {
	for _, c := range p.cells {
		n += c.gateways
	}
	return n
}

// share finds the fewest servers that carry all streams, and gives each stream its part of them.
func (p *plan) share() {
	p.servers = int(max(replicas, math.Ceil(p.work()/serverCores/target)))
	for _, c := range p.cells {
		c.cores = float64(p.servers) * serverCores / float64(len(p.cells))
	}
}

func (p *plan) work() (sum float64) {
	for _, c := range p.cells {
		sum += c.work()
	}
	return sum
}

// middling is the cell that as many have more gateways than as have fewer.
func (p *plan) middling() *cell {
	sorted := slices.Clone(p.cells)
	slices.SortStableFunc(sorted, func(a, b *cell) int { return a.gateways - b.gateways })
	return sorted[len(sorted)/2]
}

// largest is the cell with most gateways.
func (p *plan) largest() *cell {
	most := p.cells[0]
	for _, c := range p.cells {
		if c.gateways > most.gateways {
			most = c
		}
	}
	return most
}

// least searches for the fewest cells, and for each cell for the fewest gateways.
func least(f *figures, s size, how way, seed uint64) *plan {
	for n := max(1, int(s.events*effective(f.seconds(leaderIdle), f.seconds(leaderBusy))/target)); ; n++ {
		p, fits := &plan{size: s, way: how, cells: cells(f, s, n, how, seed)}, true
		for _, c := range p.cells {
			fits = fits && c.leader() <= target && c.provide(seed)
			if !fits {
				break
			}
		}
		if fits {
			p.share()
			return p
		}
	}
}
