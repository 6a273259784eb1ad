package source

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
)

// TailCounters are told how a subscription fares.
type TailCounters interface {
	Up(source string, up bool)          // whether the last attempt brought a stream
	Reconnected(source string)          // after an interruption
	Repeated(source string)             // a frame that had been read before the interruption
	Missed(source string, frames int64) // that did not come after an interruption
	SessionEvicted(name string)         // a session's stream, to make room for another's
}

// TailSettings are one subscription's.
type TailSettings struct {
	Name        string
	URL         string                            // in which Session may stand
	Session     string                            // the placeholder of a session's name
	Headers     map[string]func() (string, error) // asked at each connection: secrets change
	Dialect     string                            // "" to find out
	Agent       string                            // of streams that do not name theirs
	MaxSessions int
	Idle        time.Duration // of a session's stream
	Panics      *recovery.Recorder
}

// Tail subscribes to the stream of an agent that takes a second subscriber, and comes back after each interruption.
type Tail struct {
	settings  TailSettings
	collector *collector.Collector
	client    *http.Client
	counters  TailCounters
	logger    *slog.Logger
	now       func() time.Time
	pause     func(context.Context, time.Duration) error

	mu      sync.Mutex
	headers map[string]func() (string, error)
	renewed context.Context // done when the headers are others
	renew   context.CancelFunc
}

// NewTail prepares a subscription; Run makes it.
func NewTail(s TailSettings, c *collector.Collector, counters TailCounters, logger *slog.Logger, now func() time.Time) *Tail {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.ResponseHeaderTimeout = headerTimeout
	transport.DialContext = (&net.Dialer{Timeout: headerTimeout, KeepAliveConfig: probes}).DialContext
	t := &Tail{
		settings: s, collector: c, counters: counters, logger: logger.With("name", s.Name), now: now, pause: pause,
		client: &http.Client{Transport: transport, CheckRedirect: sameHost}, headers: s.Headers,
	}
	t.renewed, t.renew = context.WithCancel(context.Background())
	return t
}

// Renew replaces the headers. Each open stream goes on over a new connection, from the last frame that it brought: as after an
// interruption, but at once.
func (t *Tail) Renew(headers map[string]func() (string, error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.renew()
	t.headers = headers
	t.renewed, t.renew = context.WithCancel(context.Background())
}

func (t *Tail) current() (map[string]func() (string, error), context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.headers, t.renewed
}

// CloseIdle closes the connections that bring no stream.
func (t *Tail) CloseIdle() { t.client.CloseIdleConnections() }

const (
	headerTimeout = 30 * time.Second // a stream may be silent for hours, but begins at once
	maxRedirects  = 10
)

// probes have a connection given up after a minute without a sign of the other end. Nobody writes on it, so nothing else would
// tell that the network is gone; with Go's own nine probes it takes almost three.
var probes = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 3}

// The refusals of redirects.
var (
	tooFar    = &refusal{why: fmt.Sprintf("redirected %d times", maxRedirects)}
	elsewhere = &refusal{why: "redirected to another host, which would get our credentials", lasting: true}
)

// sameHost follows redirects on the host that was named.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) >= maxRedirects:
		return tooFar
	case r.URL.Host != first.Host || first.Scheme == "https" && r.URL.Scheme != "https":
		return elsewhere
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// PerSession says whether there is a stream for each session.
func (t *Tail) PerSession() bool {
	return t.settings.Session != "" && strings.Contains(t.settings.URL, t.settings.Session)
}

// Run reads the stream, of one session where there is one for each, until the context is done or the agent says that there is no
// more. heard is called for each piece that arrives.
func (t *Tail) Run(ctx context.Context, session string, heard func()) {
	defer t.settings.Panics.Recover(recovery.Tail, nil)
	s := &subscription{Tail: t, ctx: ctx, url: t.settings.URL, heard: heard, known: newRepeats()}
	if t.PerSession() {
		s.url = strings.ReplaceAll(s.url, t.settings.Session, url.PathEscape(session))
	}
	defer s.close()
	stream := &event.Stream{
		Source: t.settings.Name, Dialect: t.settings.Dialect, Agent: t.settings.Agent, Nonce: rand.Text(), Live: true, Opened: t.now(),
		Identity: event.Identity{Session: session},
	}
	err := t.collector.Follow(stream, t.now, s.connect, t.settings.Dialect)
	if err == nil {
		t.logger.Info("the agent says that its stream has ended")
	}
}

// arrivals notes when bytes arrived.
type arrivals struct {
	io.Reader
	now   func() time.Time
	heard func()
	at    time.Time
}

func (a *arrivals) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	a.at = a.now()
	if n > 0 {
		a.heard()
	}
	return n, err
}
