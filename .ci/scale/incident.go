package main

import (
	"math/rand/v2"
	"slices"
)

// moved is a group of readers of a session that leave a gateway and reconnect to another one.
type moved struct {
	left, back  float64
	to, readers int
}

// moves holds the readers that leave the gateway that stops, by session.
type moves struct {
	from     int
	sessions map[int][]moved
}

// parts is the number of groups of a session's readers that reconnect at different times.
const parts = 8

// moves draws when readers leave and where they reconnect. A gateway that is killed sends no retry time; its readers are
// assumed to wait as long as a gateway would have told them.
func (c *cell) moves(random *rand.Rand, what scenario) moves {
	m := moves{from: -1, sessions: map[int][]moved{}}
	if what != crash && what != rolling || c.gateways < 2 {
		return m
	}
	m.from = 0
	for i, s := range c.sessions {
		for _, at := range s.at {
			if at.gateway != m.from {
				continue
			}
			n := min(parts, at.readers)
			for k := range n {
				left := incident
				if what == rolling {
					left += grace * random.Float64()
				}
				m.sessions[i] = append(m.sessions[i], moved{
					left: left, back: left + retryLeast + (retryMost-retryLeast)*random.Float64(),
					to: 1 + random.IntN(c.gateways-1), readers: at.readers*(k+1)/n - at.readers*k/n,
				})
			}
		}
	}
	return m
}

// divert returns the jobs that gateway g keeps. If g stops, other gateways get the jobs for the readers that leave g.
// They accept the connections, open the feeds, and send the missed and the following frames.
func (m moves) divert(c *cell, g int, jobs [][]job, f *figures) []job {
	if g != m.from {
		return jobs[g]
	}
	var stay []job
	for _, j := range jobs[g] {
		all := m.sessions[j.session]
		for _, who := range all {
			if j.at < who.left {
				continue
			}
			j.readers -= who.readers
			own := 0.0 // the feed is open for other readers, or was opened below
			jobs[who.to] = append(jobs[who.to], job{at: max(j.at, who.back), said: j.said, own: own, readers: who.readers, session: j.session})
		}
		if j.readers > 0 {
			stay = append(stay, j)
		}
	}
	for i := range c.sessions {
		for _, who := range m.sessions[i] {
			jobs[who.to] = append(jobs[who.to], job{at: who.back, said: who.back, own: f.seconds(opening) + float64(who.readers)*f.seconds(connecting), session: i})
		}
	}
	return stay
}

// reopened returns the times at which NATS recreates consumers: those of a gateway that stopped, or of a server, which had
// one third.
func (c *cell) reopened(random *rand.Rand, what scenario) (times []float64) {
	for _, s := range c.sessions {
		for _, at := range s.at {
			switch {
			case what == noNode && random.Float64() < 1/replicas:
				times = append(times, incident+electLeast+random.Float64())
			case what == crash && at.gateway == 0:
				times = append(times, incident+retryLeast+(retryMost-retryLeast)*random.Float64())
			case what == rolling && at.gateway == 0:
				times = append(times, incident+(grace+retryMost)*random.Float64())
			}
		}
	}
	slices.Sort(times)
	return times
}
