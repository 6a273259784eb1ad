package stream

import (
	"context"
	"net"
	"net/http"
	"time"
)

// sendBuffer is what the kernel may hold for a subscriber that does not read: by itself it would take megabytes for each.
const sendBuffer = 64 << 10

// limited is a server with the send buffer that package access gives its own.
func limited(handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if wrapped, ok := c.(interface{ NetConn() net.Conn }); ok { // TLS
				c = wrapped.NetConn()
			}
			if tcp, ok := c.(*net.TCPConn); ok {
				_ = tcp.SetWriteBuffer(sendBuffer) // without it a subscriber costs more, and is served all the same
			}
			return ctx
		},
	}
}
