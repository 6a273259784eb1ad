package source

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
)

// upstream is the transport to the agent. It chooses between reused and single-use connections.
type upstream struct {
	reused *http.Transport // its connections serve several requests in turn
	single *http.Transport // its connections serve one request each
}

// maxAnswerHeader is the maximum size of the header of an agent's answer, in bytes. While the header is incomplete, it is in memory that
// no budget counts.
const maxAnswerHeader = 1 << 20

func newUpstream() *upstream {
	reused := http.DefaultTransport.(*http.Transport).Clone()
	reused.MaxResponseHeaderBytes = maxAnswerHeader
	reused.Proxy = nil
	reused.DisableCompression = true // otherwise the transport asks for gzip by itself, which changes the bytes
	reused.MaxIdleConnsPerHost = 100
	single := reused.Clone()
	// DisableKeepAlives would send "Connection: close". An agent on Go's server then does not notice a client that leaves.
	single.MaxIdleConnsPerHost = -1
	single.ReadBufferSize = copyBufferSize // frames that are read together are filtered and written together
	single.Protocols = new(http.Protocols)
	single.Protocols.SetHTTP1(true)                                        // HTTP/2 would share connections
	single.TLSClientConfig = &tls.Config{NextProtos: []string{"http/1.1"}} // the clone's offers HTTP/2 nevertheless
	return &upstream{reused: reused, single: single}
}

func (u *upstream) closeIdle() {
	u.reused.CloseIdleConnections()
	u.single.CloseIdleConnections()
}

// errNotHTTP replaces errors of net/http that quote an answer that it cannot parse.
var errNotHTTP = errors.New("its answer is not HTTP")

// RoundTrip sends a request. An agent may close an idle connection at any time (uvicorn does after five
// seconds), even while a request is on its way. Then it is unknown whether the agent has processed the
// request. Therefore a request that must not be sent twice gets a new connection.
func (u *upstream) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, connected := traceConnection(r.Context())
	r = r.WithContext(ctx)
	transport := u.single
	if isRetryable(r) {
		transport = u.reused
	}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return nil, redact(err, *connected)
	}
	if resp.StatusCode < http.StatusContinue { // net/http reads such a status, but panics when it writes one
		_ = resp.Body.Close()
		return nil, errNotHTTP
	}
	if forwardedOf(r.Context()).granted != permitAll {
		bare := *resp // a copy, to which the transport cannot add trailers
		return &bare, nil
	}
	return resp, nil
}

// traceConnection returns a context for a request. While the request runs, it sets *connected to whether the
// request has a connection.
func traceConnection(ctx context.Context) (traced context.Context, connected *bool) {
	connected = new(bool)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { *connected = false },
		GotConn: func(httptrace.GotConnInfo) { *connected = true },
	}), connected
}

// redact makes the error of a request fit to be logged. It removes the URL, which may contain a key, and replaces
// errors of net/http that quote the answer.
func redact(err error, connected bool) error {
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err
	}
	var own *refusal
	var network net.Error
	if connected && !errors.As(err, &own) && !errors.As(err, &network) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return errNotHTTP
	}
	return err
}

// isRetryable reports whether the transport may send a request again if its connection was stale, as browsers
// do.
func isRetryable(r *http.Request) bool {
	if forwardedOf(r.Context()).exchange != nil || r.Body != nil {
		return false
	}
	return slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace}, r.Method)
}
