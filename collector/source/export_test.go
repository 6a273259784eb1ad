package source

import (
	"context"
	"net"
	"time"
)

// Linger replaces how long a request outlives its client's leaving.
func (p *Proxy) Linger(d time.Duration) { p.linger = d }

// Dial replaces how the agent is reached.
func (p *Proxy) Dial(dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	to := p.forward.Transport.(*upstream)
	to.kept.DialContext, to.fresh.DialContext = dial, dial
}
