package source

import (
	"context"
	"net"
)

// maxUnsent is how many unsent bytes the system keeps for a client while its stream holds memory for
// large frames. The system accepts more data in steps of half of this number. Without the limit, it keeps
// up to 4 MB and accepts more in steps of 1 MB. A client that reads slowly but steadily would then seem
// to take nothing for many seconds.
const maxUnsent = 64 << 10

// connKey is the context key of the client's connection.
type connKey struct{}

// ConnContext is for http.Server.ConnContext of a server whose handler is a Proxy.
func ConnContext(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// clientConn returns the connection that ConnContext recorded, or nil.
func clientConn(ctx context.Context) *net.TCPConn {
	c, _ := ctx.Value(connKey{}).(*net.TCPConn)
	return c
}
