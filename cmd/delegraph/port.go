package main

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/collector/source"
)

// port is an address at which a proxy listens. The proxy can be replaced: what one has begun to answer, it answers to the end.
type port struct {
	name     string // of the source that has it
	listen   string // as configured
	listener net.Listener
	server   *http.Server

	mu      sync.RWMutex
	current *turn
	earlier map[*turn]struct{} // with requests under way
}

// turn is a source's proxy and what it has begun to answer.
type turn struct {
	name     string
	proxy    *source.Proxy
	requests sync.WaitGroup
}

func openPort(name, listen string, panics *recovery.Recorder, logger *slog.Logger) (*port, error) {
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, err
	}
	p := &port{name: name, listen: listen, listener: listener, earlier: map[*turn]struct{}{}}
	// No write timeout: an answer lasts as long as its agent speaks.
	p.server = &http.Server{
		Handler: panics.Handler(recovery.Proxy, p), ReadHeaderTimeout: 30 * time.Second, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug),
		DisableGeneralOptionsHandler: true, // "OPTIONS *" is the agent's to answer
	}
	return p, nil
}

// ServeHTTP has the request answered by the proxy of now.
func (p *port) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.RLock()
	t := p.current
	t.requests.Add(1)
	p.mu.RUnlock()
	defer t.requests.Done()
	t.proxy.ServeHTTP(w, r)
}

// give hands the port to a proxy for the requests to come. The one before it goes when its last stream is over.
func (p *port) give(name string, proxy *source.Proxy) {
	p.mu.Lock()
	defer p.mu.Unlock()
	before := p.current
	p.name, p.current = name, &turn{name: name, proxy: proxy}
	if before == nil {
		return
	}
	p.earlier[before] = struct{}{}
	go func() {
		before.requests.Wait()
		before.proxy.Wait()
		before.proxy.CloseIdle()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.earlier, before)
	}()
}

func (p *port) turns() []*turn {
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

// close takes no connection any more when it returns; requests under way go on.
func (p *port) close() {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.server.Shutdown(over) // which says that some go on
	_ = p.listener.Close()      // where nothing was served yet
}

// Wait returns when every run request that any of its proxies answers is over, its span too, and every stream has been observed.
func (p *port) Wait() {
	for _, t := range p.turns() {
		t.proxy.Wait()
	}
}

// drain lets streams and connections that have switched protocols end until the first context is done, then cuts them, and waits
// for the observation of the streams until the second is.
func (p *port) drain(polite, ctx context.Context) {
	if p.server.Shutdown(polite) != nil || !p.finish(polite) {
		for _, t := range p.turns() {
			t.proxy.Stop()
		}
		p.server.Close()
	}
	over := make(chan struct{})
	go func() { p.Wait(); close(over) }()
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// finish waits for every request until the context is done, and reports whether all have ended. Server.Shutdown does not wait for
// those that have switched protocols.
func (p *port) finish(ctx context.Context) bool {
	ended := make(chan struct{})
	go func() {
		for _, t := range p.turns() {
			t.requests.Wait()
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
