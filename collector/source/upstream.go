package source

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
)

// upstream is the way to the agent: which connection a request takes, and what is known where no answer comes.
type upstream struct {
	kept  *http.Transport // its connections serve one request after another
	fresh *http.Transport // its connections serve one request
}

func newUpstream() *upstream {
	kept := http.DefaultTransport.(*http.Transport).Clone()
	kept.Proxy = nil
	kept.DisableCompression = true // else the transport asks for gzip by itself, and the bytes change
	kept.MaxIdleConnsPerHost = 100
	fresh := kept.Clone()
	fresh.MaxIdleConnsPerHost = -1  // not DisableKeepAlives, which tells the agent: Go's server then overlooks a client that leaves
	fresh.ReadBufferSize = 16 << 10 // what a stream has ready is judged and written together
	fresh.Protocols = new(http.Protocols)
	fresh.Protocols.SetHTTP1(true) // HTTP/2 would share connections all the same
	return &upstream{kept: kept, fresh: fresh}
}

func (u *upstream) closeIdle() {
	u.kept.CloseIdleConnections()
	u.fresh.CloseIdleConnections()
}

// errNoHTTP stands for what net/http says of an answer that it cannot read, and in which it quotes the answer.
var errNoHTTP = errors.New("its answer is no HTTP")

// RoundTrip sends a request. An agent closes an idle connection when it likes, uvicorn after five seconds, and may do so while
// a request is on its way: whether it has begun nobody knows. So what may not be sent again takes a connection of its own.
func (u *upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	connected := false
	r = r.WithContext(httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{
		GetConn: func(string) { connected = false },
		GotConn: func(httptrace.GotConnInfo) { connected = true },
	}))
	transport := u.fresh
	if repeatable(r) {
		transport = u.kept
	}
	resp, err := transport.RoundTrip(r)
	var network net.Error
	if err != nil && connected && !errors.As(err, &network) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errNoHTTP
	}
	if err == nil && resp.StatusCode < http.StatusContinue { // net/http reads it, and panics when it is to be written
		resp.Body.Close()
		return nil, errNoHTTP
	}
	if granted, _ := r.Context().Value(reachKey{}).(reach); err == nil && granted != reachAll {
		bare := *resp // to which the transport adds no trailers
		return &bare, nil
	}
	return resp, err
}

// repeatable says whether the transport may send a request again, as any browser does, where its connection was stale.
func repeatable(r *http.Request) bool {
	if _, run := r.Context().Value(exchangeKey{}).(*exchange); run || r.Body != nil {
		return false
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace:
		return true
	}
	return false
}
