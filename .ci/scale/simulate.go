package main

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// scenario is an incident in the simulated time.
type scenario string

const (
	steady  scenario = "nothing happens"
	surge   scenario = "for 5 s twice as much is said"
	crash   scenario = "a gateway is killed"
	rolling scenario = "a gateway is stopped, as in a rolling deploy"
	noNode  scenario = "the server that leads the stream is lost"
)

func scenarios() []scenario { return []scenario{steady, surge, crash, rolling, noNode} }

const (
	lasting  = 40.0 // simulated seconds
	incident = 15.0
	warm     = 5.0 // seconds before measuring starts
)

// outcome is the effect of a scenario on readers and machines.
type outcome struct {
	p50, p99, worst float64 // seconds from the agent to the reader
	above           float64 // share of deliveries that took more than a second
}

// job is work of a server or a gateway: a fixed part, and a part for each reader.
type job struct {
	at, said float64 // when it can begin, and when the agent said it
	own      float64
	readers  int
	session  int
}

// queue processes one job after the other with all of its cores. A job that finds it idle costs more, for the wake-up.
type queue struct {
	cores, wake, until float64
}

// do returns when a job begins and ends. At most width cores can work on it.
func (q *queue) do(at, work, width float64) (begins, ends float64) {
	if at >= q.until {
		work += q.wake
	}
	begins = max(at, q.until)
	q.until = begins + work/q.cores
	return begins, begins + work/min(q.cores, width)
}

func newQueue(cores, wake float64) *queue { return &queue{cores: cores, wake: max(0, wake)} }

// event is an event that an agent sends.
type event struct {
	at      float64
	session int
}

// said draws the events of all sessions of a cell: runs, pauses between them, and packets within runs. The session with the
// most readers always has a run. The additional events of a surge are drawn separately, so that all others stay the same.
func (c *cell) said(what scenario, seed uint64) (all []event) {
	random, again := rand.New(rand.NewPCG(seed, 4)), rand.New(rand.NewPCG(seed, 5))
	normal := func(mean float64) float64 { return mean * math.Exp(random.NormFloat64()-0.5) }
	packed := func(random *rand.Rand, at float64, session int) {
		for first := true; first || random.Float64() > 1/packet; first = false {
			all = append(all, event{at, session})
		}
	}
	most := c.largest()
	for i := range c.sessions {
		speaks := random.Float64() < runTime/(runTime+thinkTime)
		for at, ends := 0.0, 0.0; at < lasting; speaks = !speaks {
			if ends = at + normal(thinkTime); speaks {
				ends = at + normal(runTime)
			}
			if at == 0 { // the first run has begun before
				ends *= random.Float64()
			}
			for (speaks || i == most) && at < min(ends, lasting) {
				at += random.ExpFloat64() / (speaking / packet)
				packed(random, at, i)
				if what == surge && at >= incident && at < incident+5 {
					packed(again, at+again.ExpFloat64()/speaking, i)
				}
			}
			at = ends
		}
	}
	slices.SortFunc(all, func(a, b event) int { return cmp.Compare(a.at, b.at) })
	return all
}

// simulate sends the events through the leader, the servers that read for the feeds, and the gateways to the readers.
func (c *cell) simulate(what scenario, seed uint64) outcome {
	f, random := c.f, rand.New(rand.NewPCG(seed, 3))
	own := f.seconds(observe) + f.seconds(publish) // the sidecar's processor has nothing else to do
	leader := newQueue(1, f.seconds(leaderIdle)-f.seconds(leaderBusy))
	readers := newQueue(max(1, c.cores-1-(replicas-1)*c.events*f.seconds(followerBusy)), 0)
	jobs := make([][]job, c.gateways)
	moves := c.moves(random, what)
	opened := c.reopened(random, what)
	elected := incident + electLeast + (electMost-electLeast)*random.Float64()
	next := 0
	for _, e := range c.said(what, seed) {
		at := e.at + own + hop
		if what == noNode && at >= incident && at < elected {
			at = elected
		}
		_, ends := leader.do(at, f.seconds(leaderBusy), 1)
		ends += 2 * hop // a follower has it, too
		for ; next < len(opened) && opened[next] <= ends; next++ {
			readers.do(opened[next], f.seconds(openingCluster), 1)
		}
		for _, at := range c.sessions[e.session].at {
			_, brought := readers.do(ends, f.reading(c.behind()), 1)
			jobs[at.gateway] = append(jobs[at.gateway], job{at: brought + hop, said: e.at, own: f.seconds(feedBusy), readers: at.readers, session: e.session})
		}
	}
	all := &delays{}
	for g := range jobs {
		jobs[g] = moves.divert(c, g, jobs, f)
	}
	for g := range jobs {
		slices.SortStableFunc(jobs[g], func(a, b job) int { return cmp.Compare(a.at, b.at) })
		gateway := newQueue(gatewayCores, f.seconds(feedIdle)-f.seconds(feedBusy))
		for _, j := range jobs[g] {
			begins, ends := gateway.do(j.at, j.own+float64(j.readers)*f.seconds(deliveryMany), float64(1+j.readers))
			if j.said >= warm && j.said < lasting && j.readers > 0 {
				for _, part := range []float64{1.0 / 6, 0.5, 5.0 / 6} {
					all.add(begins+part*(ends-begins)+hop-j.said, float64(j.readers)/3)
				}
			}
		}
	}
	return outcome{p50: all.at(0.5), p99: all.at(0.99), worst: all.at(1), above: all.above(1)}
}

// delays is a histogram of delays with buckets that are each 2 % wider than the previous one.
type delays struct {
	counts [1200]float64
	sum    float64
}

const finest = 1e-6

func (d *delays) add(delay, n float64) {
	d.counts[min(len(d.counts)-1, max(0, int(math.Log(delay/finest)/math.Log(1.02))))] += n
	d.sum += n
}

func (d *delays) at(quantile float64) float64 {
	left := quantile * d.sum * (1 - 1e-9)
	for i, n := range d.counts {
		if left -= n; left <= 0 {
			return finest * math.Pow(1.02, float64(i)+0.5)
		}
	}
	return math.Inf(1)
}

func (d *delays) above(delay float64) float64 {
	n := 0.0
	for _, each := range d.counts[int(math.Log(delay/finest)/math.Log(1.02))+1:] {
		n += each
	}
	return n / d.sum
}
