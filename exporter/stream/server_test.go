package stream

import (
	"context"
	"net"
	"net/http"
	"time"
)

// sendBuffer limits what the kernel holds for a subscriber that does not read. The default is megabytes for each.
const sendBuffer = 64 << 10

// newBoundedServer returns a server with the same send buffer as package access sets. It speaks HTTP/2 without TLS too.
func newBoundedServer(handler http.Handler) *http.Server {
	both := new(http.Protocols)
	both.SetHTTP1(true)
	both.SetUnencryptedHTTP2(true)
	return &http.Server{
		Handler: handler, Protocols: both, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if wrapped, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
				c = wrapped.NetConn()
			}
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetWriteBuffer(sendBuffer) // if this fails, a subscriber only costs more memory
			}
			return ctx
		},
	}
}
