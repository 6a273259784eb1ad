package sidecar

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/source"
)

// port is an address at which a proxy listens. The proxy can be replaced. A replaced proxy completes its open
// requests.
type port struct {
	name     string // of its source
	listen   string // as configured
	listener net.Listener
	server   *http.Server
	open     atomic.Int64 // requests that are being answered

	mu      sync.RWMutex
	current *generation
	earlier map[*generation]struct{} // replaced generations with open requests or streams
}

// generation is one proxy of a port and its open requests.
type generation struct {
	name     string
	proxy    *source.Proxy
	requests sync.WaitGroup
}

// openPort listens at an address. headers is charged for the request headers.
func openPort(name, listen string, headers *budget.Account, panics *recovery.Recorder, logger *slog.Logger) (*port, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, err
	}
	p := &port{name: name, listen: listen, listener: headerListener{listener, headers}, earlier: map[*generation]struct{}{}}
	// No write timeout: an answer lasts as long as the agent sends.
	p.server = &http.Server{
		Handler: panics.Handler(recovery.Proxy, p), ReadHeaderTimeout: 30 * time.Second, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
		MaxHeaderBytes:               maxHeaderBytes,
		ConnContext:                  connContext,
		ConnState:                    releaseHeader,
		DisableGeneralOptionsHandler: true, // "OPTIONS *" is the agent's to answer
	}
	return p, nil
}

// ServeHTTP passes the request to the current proxy.
func (p *port) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	headerIsComplete(r)
	p.mu.RLock()
	g := p.current
	g.requests.Add(1)
	p.mu.RUnlock()
	defer g.requests.Done()
	p.open.Add(1)
	defer p.open.Add(-1)
	g.proxy.ServeHTTP(w, r)
}

// swap makes a proxy answer all later requests. The previous proxy is released after its last stream.
func (p *port) swap(name string, proxy *source.Proxy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	previous := p.current
	p.name, p.current = name, &generation{name: name, proxy: proxy}
	if previous == nil {
		return
	}
	p.earlier[previous] = struct{}{}
	go func() {
		previous.requests.Wait()
		previous.proxy.Wait()
		previous.proxy.CloseIdle()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.earlier, previous)
	}()
}

func (p *port) generations() []*generation {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return append(slices.Collect(maps.Keys(p.earlier)), p.current)
}

// serve answers requests until the port is closed.
func (p *port) serve() error {
	if err := p.server.Serve(p.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// close stops accepting connections. Open requests continue.
func (p *port) close() {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.server.Shutdown(canceled) // its error says that requests are open
	_ = p.listener.Close()          // if nothing was served yet
}

// wait returns when the run requests of all generations have ended, with their spans, and their streams have
// been observed.
func (p *port) wait() {
	for _, g := range p.generations() {
		g.proxy.Wait()
	}
}

// drain waits for streams and upgraded connections until graceful is done, and then closes them. It waits for
// the observation of the streams until ctx is done. It returns the number of requests that it cut off.
func (p *port) drain(graceful, ctx context.Context) (cut int64) {
	if p.server.Shutdown(graceful) != nil || !p.waitRequests(graceful) {
		cut = p.open.Load()
		for _, g := range p.generations() {
			g.proxy.Stop()
		}
		p.server.Close()
	}
	observed := make(chan struct{})
	go func() { p.wait(); close(observed) }()
	select {
	case <-observed:
	case <-ctx.Done():
	}
	return cut
}

// waitRequests waits for all requests until the context is done, and reports whether all have ended. Unlike
// Server.Shutdown, it also waits for upgraded connections.
func (p *port) waitRequests(ctx context.Context) bool {
	ended := make(chan struct{})
	go func() {
		for _, g := range p.generations() {
			g.requests.Wait()
		}
		close(ended)
	}()
	select {
	case <-ended:
		return true
	case <-ctx.Done():
		return false
	}
}
