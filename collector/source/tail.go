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
	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/recovery"
)

// TailCounters records what happens to a tail. The first argument of each method is the source's name.
type TailCounters interface {
	// SetSourceUp records whether the last attempt to connect brought a stream.
	SetSourceUp(source string, up bool)
	// CountReconnect counts an attempt to reconnect after an interruption.
	CountReconnect(source string)
	// CountRepeatedFrame counts a frame that had been read before the interruption.
	CountRepeatedFrame(source string)
	// CountMissedFrames counts frames that were lost in an interruption.
	CountMissedFrames(source string, frames int64)
	// CountEvictedSession counts a session's stream that was ended to make room for another.
	CountEvictedSession(source string)
}

// TailSettings configures a Tail.
type TailSettings struct {
	Name               string
	URL                string                            // may contain SessionPlaceholder
	SessionPlaceholder string                            // replaced with the session in URL
	Headers            map[string]func() (string, error) // called for each connection, because secrets change
	Dialect            string                            // "" to detect it
	Agent              string                            // the name of the agent if its stream does not give it
	MaxSessions        int
	IdleTimeout        time.Duration   // after which a silent stream of a session is closed
	Memory             *budget.Account // pays for what is remembered of each stream
	Panics             *recovery.Recorder
}

// Tail reads the stream of an agent as a second subscriber, and reconnects after each interruption.
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
	renewed context.Context // done when the headers are replaced
	renew   context.CancelFunc
}

// NewTail returns a tail. It connects when Run is called.
func NewTail(s TailSettings, c *collector.Collector, counters TailCounters, logger *slog.Logger, now func() time.Time) *Tail {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true // subscribe asks for gzip itself: unlike the transport, gzipStream does not delay events
	transport.ResponseHeaderTimeout, transport.MaxResponseHeaderBytes = headerTimeout, maxAnswerHeader
	transport.DialContext = (&net.Dialer{Timeout: headerTimeout, KeepAliveConfig: keepAlive}).DialContext
	t := &Tail{
		settings: s, collector: c, counters: counters, logger: logger.With("name", s.Name), now: now, pause: pause,
		client: &http.Client{Transport: transport, CheckRedirect: sameHost}, headers: s.Headers,
	}
	t.renewed, t.renew = context.WithCancel(context.Background())
	return t
}

// SetHeaders replaces the headers. Each open stream reconnects at once and resumes after its last frame.
func (t *Tail) SetHeaders(headers map[string]func() (string, error)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.renew()
	t.headers = headers
	t.renewed, t.renew = context.WithCancel(context.Background())
}

// currentHeaders returns the headers, and a context that is done when they have been replaced.
func (t *Tail) currentHeaders() (map[string]func() (string, error), context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.headers, t.renewed
}

// CloseIdle closes the connections that carry no stream.
func (t *Tail) CloseIdle() { t.client.CloseIdleConnections() }

const (
	headerTimeout = 30 * time.Second // a stream may be silent for hours, but its header comes at once
	maxRedirects  = 10
)

// keepAlive closes a connection after a minute without a sign of the other end. The client never writes, so
// nothing else would detect a broken network. Go's default of nine probes takes almost three minutes.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 15 * time.Second, Count: 3}

// Errors for redirects that are not followed.
var (
	errTooManyRedirects = &refusal{why: fmt.Sprintf("redirected %d times", maxRedirects)}
	errOtherHost        = &refusal{why: "redirected to another host, which would get the credentials"}
)

// sameHost is a CheckRedirect function that follows redirects only on the same host, and not from https to
// http.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	switch {
	case len(via) >= maxRedirects:
		return errTooManyRedirects
	case r.URL.Host != first.Host || first.Scheme == "https" && r.URL.Scheme != "https":
		return errOtherHost
	}
	return nil
}

// pause waits for d. It returns the context's error if the context is done before that.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// PerSession reports whether the URL contains the session placeholder: there is one stream for each session.
func (t *Tail) PerSession() bool {
	return t.settings.SessionPlaceholder != "" && strings.Contains(t.settings.URL, t.settings.SessionPlaceholder)
}

// Run reads the stream until the context is done or the agent ends the stream for good. session selects the
// stream if each session has its own. Run calls onBytes whenever bytes arrive.
func (t *Tail) Run(ctx context.Context, session string, onBytes func()) {
	defer t.settings.Panics.Recover(recovery.Tail, nil)
	s := &subscription{Tail: t, ctx: ctx, url: t.settings.URL, onBytes: onBytes, repeats: newRepeatDetector(t.settings.Memory)}
	if t.PerSession() {
		s.url = strings.ReplaceAll(s.url, t.settings.SessionPlaceholder, url.PathEscape(session))
	}
	defer s.close()
	defer s.repeats.close()
	stream := &event.Stream{
		Source: t.settings.Name, Dialect: t.settings.Dialect, ConfiguredAgent: t.settings.Agent, Nonce: rand.Text(), Live: true, OpenedAt: t.now(),
		Identity: event.Identity{Session: session},
	}
	err := t.collector.Follow(stream, t.now, s.connect, t.settings.Dialect)
	if err == nil {
		t.logger.Info("the agent has ended its stream for good")
	}
}

// arrivalReader records when bytes arrived.
type arrivalReader struct {
	io.Reader
	now     func() time.Time
	onBytes func()
	at      time.Time
}

func (a *arrivalReader) Read(p []byte) (int, error) {
	n, err := a.Reader.Read(p)
	a.at = a.now()
	if n > 0 {
		a.onBytes()
	}
	return n, err
}
