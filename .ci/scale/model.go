package main

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Assumptions, which were not measured. The tables list them.
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
	target       = 0.6 // the highest utilization that is planned for
	agentsRate   = speaking * runTime / (runTime + thinkTime)
)

// Values from the configuration, the documentation or the source of Delegraph and NATS.
const (
	heartbeat  = 15.0 // seconds: stream.heartbeat
	grace      = 10.0 // seconds in which readers leave a gateway that stops
	retryLeast = 0.5  // seconds after which a reader comes back that was sent away
	retryMost  = 5.0
	electLeast = 4.0 // seconds after which a server that hears no leader stands for election: nats-server, raft.go
	electMost  = 9.0
	replicas   = 3.0
	chunk      = 500       // readers of a session at one gateway before the next gateway gets some, if readers are assigned by session
	sidecarRAM = 128 << 20 // requested by the chart
	overhead   = 1.1       // of network protocols: bytes on the wire per byte of a message
	frameSize  = 650       // bytes of an event sent to a reader, with id and line ends; the benchmarks' events have 612 bytes of data
)

// size is the load of an installation.
type size struct {
	agents, events, readers float64
}

// way is how readers are assigned to gateways.
type way string

const (
	atRandom  way = "at random"
	bySession way = "by session"
)

// session is a session of a cell, with its readers at each gateway.
type session struct {
	readers int
	at      []share
}

type share struct{ gateway, readers int }

// cell is one stream in NATS, in an account of its own, with the sidecars that write it and the gateways that read it.
type cell struct {
	f        *figures
	sessions []session
	events   float64 // a second
	gateways int
	way      way
	cores    float64 // of the servers, for this stream
}

// sessions draws the number of readers of each session. A few sessions have most of the readers.
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
	for range 60 { // redistribute the readers beyond mostReaders to other sessions
		if middle := (least + most) / 2; deal(middle) < s.readers {
			least = middle
		} else {
			most = middle
		}
	}
	deal(most)
	return readers
}

// cells distributes the sessions over n cells.
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

// place distributes the readers over the given number of gateways.
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

// effective returns the average cost of work that sometimes has to wake its worker: at a utilization of 60 %, two times in
// five.
func effective(idle, busy float64) float64 { return busy + (1-target)*max(0, idle-busy) }

// busiest returns the highest utilization of any gateway while the session with the most readers has a run.
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

// provide places the readers on the smallest number of gateways that keeps the busiest below the target. It returns false
// if there is none.
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

// feeds returns the number of feeds, and the average number of feeds that an event passes.
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

// behind returns the number of other messages between two messages of a session that has a run.
func (c *cell) behind() float64 { return c.events / speaking }

// leader returns the utilization of the one core that accepts a stream's messages.
func (c *cell) leader() float64 {
	return c.events * effective(c.f.seconds(leaderIdle), c.f.seconds(leaderBusy))
}

// work returns the cores that a stream uses on all servers together.
func (c *cell) work() float64 {
	_, each := c.feeds()
	return c.events * (effective(c.f.seconds(leaderIdle), c.f.seconds(leaderBusy)) + (replicas-1)*c.f.seconds(followerBusy) + each*c.f.reading(c.behind()))
}

// plan is the smallest installation that keeps everything below the target utilization.
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

// share computes the smallest number of servers that carry all streams, and gives each stream its share of them.
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

// middling returns the cell with the median number of gateways.
func (p *plan) middling() *cell {
	sorted := slices.Clone(p.cells)
	slices.SortStableFunc(sorted, func(a, b *cell) int { return a.gateways - b.gateways })
	return sorted[len(sorted)/2]
}

// largest returns the cell with the most gateways.
func (p *plan) largest() *cell {
	most := p.cells[0]
	for _, c := range p.cells {
		if c.gateways > most.gateways {
			most = c
		}
	}
	return most
}

// least returns the plan with the fewest cells and, for each cell, the fewest gateways.
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
