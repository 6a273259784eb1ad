package source

import "time"

// Linger replaces how long a request outlives its client's leaving.
func (p *Proxy) Linger(d time.Duration) { p.linger = d }
