package sidecar

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/source"
)

// maxHeaderBytes bounds the header of a request. The limits of agents' own servers are lower: Node.js 16 KiB, Envoy
// 60 KiB, uvicorn 64 KiB. Only Go's default is higher, 1 MiB.
const maxHeaderBytes = 128 << 10

// smallHeader is the size in bytes up to which a header is never refused, and not charged.
const smallHeader = 8 << 10

// headerListener bounds the memory of the request headers of all its connections together. A header takes memory
// until its request has been answered. One over smallHeader is charged, and refused with 431 if the account has no
// room for it.
type headerListener struct {
	net.Listener
	account *budget.Account
}

func (l headerListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &headerConn{Conn: c, account: l.account, inHeader: true}, nil
}

// headerConn is a connection of a headerListener.
type headerConn struct {
	net.Conn
	account *budget.Account
	refused bool // only for Read

	mu       sync.Mutex
	inHeader bool // the header of a request is being read
	size     int  // bytes of the header of the current request
}

// errNoRoom is the error of a connection whose header was refused.
var errNoRoom = errors.New("no memory for the header of the request")

// refusal is what net/http answers to a header over http.Server.MaxHeaderBytes.
const refusal = "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n431 Request Header Fields Too Large"

func (c *headerConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if !c.charge(n) {
		if !c.refused {
			c.refused = true
			c.account.CountShed()
			_, _ = io.WriteString(c.Conn, refusal)
		}
		return 0, &net.OpError{Op: "read", Err: errNoRoom} // after it, the server adds no answer of its own
	}
	return n, err
}

// charge charges the next bytes that were read, if they belong to a header. It returns false if there is no room.
func (c *headerConn) charge(n int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.inHeader {
		return true
	}
	before := c.charged()
	c.size += n
	if c.account.ChargeWithin(c.charged() - before) {
		return true
	}
	c.size -= n
	return false
}

// charged returns for how many bytes the account was charged.
func (c *headerConn) charged() int { return max(0, c.size-smallHeader) }

// headerKey is the context key of the headerConn of a request.
type headerKey struct{}

// connContext is for http.Server.ConnContext.
func connContext(ctx context.Context, c net.Conn) context.Context {
	h := c.(*headerConn)
	return source.ConnContext(context.WithValue(ctx, headerKey{}, h), h.Conn)
}

// headerIsComplete states that the bytes that follow on the connection of a request are its body.
func headerIsComplete(r *http.Request) {
	c := r.Context().Value(headerKey{}).(*headerConn)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inHeader = false
}

// releaseHeader is for http.Server.ConnState. It releases the header of a request that has been answered, or whose
// connection is closed or upgraded.
func releaseHeader(conn net.Conn, state http.ConnState) {
	if state == http.StateNew || state == http.StateActive {
		return
	}
	c := conn.(*headerConn)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.account.Release(c.charged())
	c.size, c.inHeader = 0, state == http.StateIdle
}
