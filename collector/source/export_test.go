package source

import (
	"context"
	"net"
	"time"
)

// Linger replaces the time for which a request continues after its client has left.
func (p *Proxy) Linger(d time.Duration) { p.linger = d }

// Dial replaces the function that connects to the agent.
func (p *Proxy) Dial(dial func(ctx context.Context, network, address string) (net.Conn, error)) {
	to := p.forward.Transport.(*upstream)
	to.reused.DialContext, to.single.DialContext = dial, dial
}

// Clock replaces the proxy's clock.
func (p *Proxy) Clock(now func() time.Time) { p.now = now }
