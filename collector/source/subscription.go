package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/delegraph/delegraph/collector"
)

// Bounds of the pauses between attempts.
const (
	firstPause   = time.Second
	longestPause = time.Minute
	longestAsked = 5 * time.Minute // that a stream or an answer may ask for
)

// subscription is one stream being read, over one connection after another.
type subscription struct {
	*Tail
	ctx   context.Context
	url   string
	heard func()
	known *repeats
	body  io.Closer

	began   bool     // there was an attempt
	fails   int      // attempts in a row that brought no frame
	refused *refusal // of the last attempt
	lost    string   // why there is no stream, as it was logged
}

func (s *subscription) close() {
	if s.body != nil {
		s.body.Close()
		s.body = nil
	}
}

// refusal is an answer that is no stream.
type refusal struct {
	why     string
	lasting bool          // asking again soon will not help
	after   time.Duration // that the answer asks for
}

func (r *refusal) Error() string { return r.why }

// connect brings the next connection, however long that takes. It is io.EOF where the agent says that there is no more.
func (s *subscription) connect(at collector.Position) (collector.Input, error) {
	s.close()
	if at.Frames > 0 {
		s.fails = 0
	}
	for {
		again := s.began
		if again {
			if err := s.pause(s.ctx, s.wait(at)); err != nil {
				return collector.Input{}, err
			}
			s.counters.Reconnected(s.settings.Name)
		}
		s.began = true
		in, err := s.subscribe(at.LastEventID, again)
		s.fails++ // unless it brings a frame
		s.refused = nil
		errors.As(err, &s.refused)
		switch {
		case s.ctx.Err() != nil:
			return collector.Input{}, s.ctx.Err()
		case errors.Is(err, io.EOF):
			return collector.Input{}, err
		case err == nil:
			s.found()
			return in, nil
		}
		s.miss(err)
	}
}

// wait is how long to wait before the next attempt: twice as long each time, and not as long as others do.
func (s *subscription) wait(at collector.Position) time.Duration {
	wait := firstPause
	if at.Asked {
		wait = min(max(at.Retry, 100*time.Millisecond), longestAsked)
	}
	for range min(s.fails-1, 10) {
		if wait < longestPause {
			wait = min(2*wait, longestPause)
		}
	}
	switch {
	case s.refused == nil:
	case s.refused.lasting:
		wait = max(wait, longestPause)
	default:
		wait = max(wait, min(s.refused.after, longestAsked))
	}
	return wait/2 + rand.N(wait/2+1)
}

// subscribe asks for the stream once.
func (s *subscription) subscribe(last string, again bool) (collector.Input, error) {
	r, err := http.NewRequestWithContext(s.ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return collector.Input{}, &refusal{why: "its URL is none", lasting: true}
	}
	for name, value := range s.settings.Headers {
		text, err := value()
		if err != nil {
			return collector.Input{}, &refusal{why: fmt.Sprintf("header %s: %v", name, err), lasting: true}
		}
		r.Header.Set(name, text)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Cache-Control", "no-cache")
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	resp, err := s.client.Do(r)
	if errors.Is(err, errElsewhere) {
		return collector.Input{}, &refusal{why: errElsewhere.Error(), lasting: true}
	}
	if err != nil {
		return collector.Input{}, unwrapped(err)
	}
	if err := unfit(resp); err != nil {
		resp.Body.Close()
		return collector.Input{}, err
	}
	s.body = resp.Body
	read := &arrivals{Reader: resp.Body, now: s.now, heard: s.heard}
	in := collector.Input{Reader: read, Arrival: func() time.Time { return read.at }}
	in.Known = s.known.note(again, func() { s.counters.Repeated(s.settings.Name) })
	return in, nil
}

// unwrapped is an error of the client without the URL, which may hold a key.
func unwrapped(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return errors.New("no answer")
}

// unfit says why an answer is no stream: io.EOF where it says that there is no more, as WHATWG HTML 9.2 has 204 mean.
func unfit(resp *http.Response) error {
	switch status := resp.StatusCode; {
	case status == http.StatusNoContent:
		return io.EOF
	case status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status == http.StatusNotFound || status >= 500:
		seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return &refusal{why: "it answered " + strconv.Itoa(status), after: time.Duration(min(max(seconds, 0), 3600)) * time.Second}
	case status != http.StatusOK:
		return &refusal{why: "it answered " + strconv.Itoa(status), lasting: true}
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
		return &refusal{why: "its answer is no text/event-stream", lasting: true}
	}
	return nil
}

// miss says that there is no stream: once, until the reason is another.
func (s *subscription) miss(err error) {
	s.counters.Up(s.settings.Name, false)
	if why := err.Error(); why != s.lost {
		s.logger.Warn("no stream from the agent; trying again", "err", why)
		s.lost = why
	}
}

func (s *subscription) found() {
	s.counters.Up(s.settings.Name, true)
	if s.lost != "" {
		s.logger.Info("the agent's stream is back")
		s.lost = ""
	}
}
