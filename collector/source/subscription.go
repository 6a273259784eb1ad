package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/sse"
)

// Limits of the pauses between connection attempts.
const (
	minPause = time.Second
	maxPause = time.Minute

	// maxRetry is the longest retry field that is obeyed. It is shorter than maxRetryAfter because the end of a stream does
	// not mean that the agent is down.
	maxRetry      = time.Minute
	maxRetryAfter = 5 * time.Minute // for the Retry-After header of an answer
	healthyAfter  = time.Minute     // a connection that lasted this long was successful, even without a frame
)

// subscription is one stream of a Tail that is being read, over one connection after the other.
type subscription struct {
	*Tail
	ctx     context.Context
	url     string
	onBytes func()
	repeats *repeatDetector
	ids     idSequence
	body    io.Closer

	headers map[string]func() (string, error)
	renewed context.Context // done when the tail has new headers
	attempt context.Context // of one connection: done when the tail has new headers or release is called
	release func()

	attempted   bool      // there was an attempt
	connectedAt time.Time // the time of the last connection
	failures    int       // consecutive attempts without a frame
	lastRefusal *refusal  // from the last attempt
	lastFailure string    // the last logged reason why there is no stream
}

// close ends the current connection and attempt.
func (s *subscription) close() {
	if s.body != nil {
		s.body.Close()
		s.body = nil
	}
	if s.release != nil {
		s.release()
	}
}

// startAttempt takes the current headers for the next attempt, and reports whether they have changed since
// the last one.
func (s *subscription) startAttempt() bool {
	changed := s.renewed != nil && s.renewed.Err() != nil
	if changed {
		s.failures, s.lastRefusal = 0, nil
	}
	s.headers, s.renewed = s.currentHeaders()
	attempt, cancel := context.WithCancel(s.ctx)
	forget := context.AfterFunc(s.renewed, cancel)
	s.attempt, s.release = attempt, func() { forget(); cancel() }
	return changed
}

// refusal is the error for an answer that is not a stream.
type refusal struct {
	why        string
	notFound   bool          // the stream does not exist, or not yet
	retryAfter time.Duration // from the answer; 0 if it has none
}

func (r *refusal) Error() string { return r.why }

// connect returns the next connection. It retries until it succeeds or the context is done. It returns
// io.EOF if the agent has ended the stream for good.
func (s *subscription) connect(at collector.Position) (collector.Input, error) {
	if at.Frames > 0 || s.body != nil && s.now().Sub(s.connectedAt) >= healthyAfter {
		s.failures = 0
	}
	for {
		s.close()
		if renewed := s.startAttempt(); s.attempted {
			if !renewed && s.pause(s.attempt, s.delay(at)) != nil && s.ctx.Err() == nil {
				continue // the headers have changed: retry at once
			}
			if s.ctx.Err() != nil {
				return collector.Input{}, s.ctx.Err()
			}
			s.counters.CountReconnect(s.settings.Name)
		}
		s.attempted = true
		in, err := s.subscribe(at.LastEventID)
		s.failures++ // reset by the next call if the connection brings a frame
		s.lastRefusal = nil
		errors.As(err, &s.lastRefusal)
		switch {
		case s.ctx.Err() != nil:
			return collector.Input{}, s.ctx.Err()
		case errors.Is(err, errStreamOver):
			return collector.Input{}, io.EOF
		case err == nil:
			s.reportSuccess()
			return in, nil
		case s.renewed.Err() != nil:
			continue
		}
		s.reportFailure(err)
	}
}

// delay returns how long to wait before the next attempt. It doubles with each failure, is at least what the
// agent has asked for, and has random jitter so that not all clients reconnect at once.
func (s *subscription) delay(at collector.Position) time.Duration {
	wait := minPause
	if at.HasRetry {
		wait = min(max(at.Retry, 100*time.Millisecond), maxRetry)
	}
	for range min(s.failures-1, 10) {
		wait = min(2*wait, maxPause)
	}
	if s.lastRefusal != nil {
		wait = max(wait, min(s.lastRefusal.retryAfter, maxRetryAfter))
	}
	return wait + rand.N(wait/2)
}

// subscribe makes one attempt to connect.
func (s *subscription) subscribe(lastEventID string) (collector.Input, error) {
	ctx, connected := traceConnection(s.attempt)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url, nil)
	if err != nil {
		return collector.Input{}, &refusal{why: "invalid URL"}
	}
	for name, value := range s.headers {
		text, err := value()
		if err != nil {
			return collector.Input{}, &refusal{why: fmt.Sprintf("header %s: %v", name, err)}
		}
		r.Header.Set(name, text)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Cache-Control", "no-cache")
	r.Header.Set("Accept-Encoding", "gzip")
	if lastEventID != "" && !strings.ContainsFunc(lastEventID, invalidInHeader) {
		r.Header.Set("Last-Event-ID", lastEventID)
	}
	resp, err := s.client.Do(r)
	if err != nil {
		return collector.Input{}, redact(err, *connected)
	}
	if err := checkAnswer(resp, s.now()); err != nil {
		resp.Body.Close()
		return collector.Input{}, err
	}
	s.body, s.connectedAt = resp.Body, s.now()
	read := &arrivalReader{Reader: decompress(resp.Body, contentEncoding(resp.Header)), now: s.now, onBytes: s.onBytes}
	in := collector.Input{Reader: read, ReceivedAt: func() time.Time { return read.at }}
	known := s.repeats.startConnection(func() { s.counters.CountRepeatedFrame(s.settings.Name) })
	s.ids.resume()
	in.SeenBefore = func(f sse.Frame) bool {
		if n := s.ids.countMissed(f.ID); n > 0 {
			s.counters.CountMissedFrames(s.settings.Name, n)
		}
		return known(f)
	}
	return in, nil
}

// invalidInHeader reports whether a character is not allowed in a header. net/http would refuse every request
// with such an id.
func invalidInHeader(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }

// errStreamOver means that the agent has ended the stream for good. It is not io.EOF, which is the error for
// an agent that dies before it answers.
var errStreamOver = errors.New("the agent has ended the stream")

// checkAnswer returns a *refusal if an answer is not a stream, or errStreamOver if its status is 204, which means
// that there is no more (WHATWG HTML, 9.2). A browser gives up after any other status too; a tail retries,
// because there is no user who could reload the page.
func checkAnswer(resp *http.Response, now time.Time) error {
	switch status := resp.StatusCode; {
	case status == http.StatusNoContent:
		return errStreamOver
	case status != http.StatusOK:
		return &refusal{
			why: "it answered " + strconv.Itoa(status), retryAfter: retryAfter(resp.Header.Get("Retry-After"), now), notFound: status == http.StatusNotFound,
		}
	case !isStream(resp.Header):
		return &refusal{why: "its answer is not text/event-stream"}
	}
	if !isSupported(contentEncoding(resp.Header)) {
		return &refusal{why: "its answer has a content encoding other than gzip"}
	}
	return nil
}

// isStream reports whether the media type is text/event-stream, with any parameters (WHATWG HTML, 9.2).
func isStream(h http.Header) bool {
	media, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(media), "text/event-stream")
}

// retryAfter returns the delay of a Retry-After header, which is a number of seconds or a date (RFC 9110,
// 10.2.3).
func retryAfter(asked string, now time.Time) time.Duration {
	if date, err := http.ParseTime(asked); err == nil {
		return max(date.Sub(now), 0)
	}
	seconds, _ := strconv.Atoi(asked)
	return time.Duration(min(max(seconds, 0), 3600)) * time.Second
}

// reportFailure records that there is no stream, and logs the reason unless it was the last one logged. An
// agent that does not know a session is not down: any client of a proxy can name a session that does not
// exist.
func (s *subscription) reportFailure(err error) {
	if absent := s.lastRefusal != nil && s.lastRefusal.notFound; !absent || !s.PerSession() {
		s.counters.SetSourceUp(s.settings.Name, false)
	}
	if why := err.Error(); why != s.lastFailure {
		s.logger.Warn("no stream from the agent; trying again", "err", why)
		s.lastFailure = why
	}
}

// reportSuccess records that there is a stream.
func (s *subscription) reportSuccess() {
	s.counters.SetSourceUp(s.settings.Name, true)
	if s.lastFailure != "" {
		s.logger.Info("the agent's stream is back")
		s.lastFailure = ""
	}
}
