package sidecar

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/delegraph/delegraph/collector/source"
	"github.com/delegraph/delegraph/config"
)

// subscription is a running tail: one stream, or one for each session that a proxied request names.
type subscription struct {
	configured config.Source
	tail       *source.Tail
	sessions   *source.Sessions // nil if there is one stream
	cancel     context.CancelFunc
	done       chan struct{} // closed when the one stream has ended; nil before it starts
}

func newSubscription(configured config.Source, tail *source.Tail) *subscription {
	s := &subscription{configured: configured, tail: tail}
	if tail.PerSession() {
		s.sessions = source.NewSessions(tail)
	}
	return s
}

// begin starts to read the one stream. Streams of sessions start when they are named.
func (s *subscription) begin() {
	if s.sessions != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	s.cancel, s.done = cancel, done
	go func() { defer close(done); s.tail.Run(ctx, "", func() {}) }()
}

// names returns the sessions that are being read.
func (s *subscription) names() []string {
	if s.sessions == nil {
		return nil
	}
	return s.sessions.Names()
}

// open starts to read the streams of the given sessions, if there is one for each session.
func (s *subscription) open(names []string) {
	for _, name := range names {
		if s.sessions != nil {
			s.sessions.Open(name)
		}
	}
}

// interrupt ends the one stream without waiting for it.
func (s *subscription) interrupt() {
	if s.cancel != nil {
		s.cancel()
	}
}

// end ends all streams and returns when nothing is read any more.
func (s *subscription) end() {
	s.interrupt()
	if s.done != nil {
		<-s.done
	}
	if s.sessions != nil {
		s.sessions.Close()
	}
	s.tail.CloseIdle()
}

// apply applies a configuration that prepareTail allows for a running subscription. newHeaders reports whether
// the headers have changed.
func (s *subscription) apply(configured config.Source, newHeaders bool) {
	s.configured = configured
	if s.sessions != nil {
		s.sessions.Configure(configured.Tail.MaxSessions, configured.Tail.IdleTimeout)
	}
	if !newHeaders {
		return
	}
	s.tail.SetHeaders(headers(configured.Tail.Headers))
	select {
	case <-s.done: // the agent ended it, perhaps because of the headers
		s.begin()
	default:
	}
}

// headers returns functions that read files at each use, because secrets are rotated.
func headers(configured map[string]config.Header) map[string]func() (string, error) {
	out := make(map[string]func() (string, error), len(configured))
	for name, h := range configured {
		out[name] = func() (string, error) {
			if h.File == "" {
				return h.Value, nil
			}
			content, err := os.ReadFile(h.File)
			value := strings.TrimSpace(string(content))
			if err == nil && value == "" { // it is being replaced
				err = fmt.Errorf("%s is empty", h.File)
			}
			return value, err
		}
	}
	return out
}
