package collector

import "time"

// replayPause is the first pause of a stream that ends what it may have repeated. Between repeated frames, servers do not wait for an agent.
const replayPause = 200 * time.Millisecond

// catchUp finds the frames that a stream may bring later than the agent has sent them: those from its beginning, or from a reconnection, to
// the first pause.
type catchUp struct {
	active bool
	last   time.Time // zero before the first frame if that may come late, too
}

// start starts to catch up. since is zero if the first frame may have been sent earlier however late it comes.
func (c *catchUp) start(since time.Time) { *c = catchUp{true, since} }

// includes reports whether a frame may have been sent earlier.
func (c *catchUp) includes(received time.Time) bool {
	c.active = c.active && (c.last.IsZero() || received.Sub(c.last) < replayPause)
	c.last = received
	return c.active
}
