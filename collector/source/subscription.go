package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/sse"
)

// Bounds of the pauses between attempts.
const (
	firstPause   = time.Second
	longestPause = time.Minute
	longestRetry = time.Minute     // that a stream may ask for: its end tells nobody that the agent is away
	longestAsked = 5 * time.Minute // that an answer may ask for
	healthy      = time.Minute     // after which a connection was a good one, whether it brought a frame or not
)

// subscription is one stream being read, over one connection after another.
type subscription struct {
	*Tail
	ctx   context.Context
	url   string
	heard func()
	known *repeats
	ids   sequence
	body  io.Closer

	headers map[string]func() (string, error)
	renewed context.Context // done when the headers are no longer the tail's
	attempt context.Context // of one connection: done when it is closed, by either side of a renewal
	release func()

	began   bool      // there was an attempt
	since   time.Time // when the last connection was made
	fails   int       // attempts in a row that brought no frame
	refused *refusal  // of the last attempt
	lost    string    // why there is no stream, as it was logged
}

func (s *subscription) close() {
	if s.body != nil {
		s.body.Close()
		s.body = nil
	}
	if s.release != nil {
		s.release()
	}
}

// prepare takes the settings for the next attempt, and says whether they were renewed after the last.
func (s *subscription) prepare() bool {
	again := s.renewed != nil && s.renewed.Err() != nil
	if again {
		s.fails, s.refused = 0, nil
	}
	s.headers, s.renewed = s.current()
	attempt, cancel := context.WithCancel(s.ctx)
	forget := context.AfterFunc(s.renewed, cancel)
	s.attempt, s.release = attempt, func() { forget(); cancel() }
	return again
}

// refusal is an answer that is no stream.
type refusal struct {
	why     string
	lasting bool          // asking again soon will not help
	absent  bool          // there is no such stream, or not yet
	after   time.Duration // that the answer asks for
}

func (r *refusal) Error() string { return r.why }

// connect brings the next connection, however long that takes. It is io.EOF where the agent says that there is no more.
func (s *subscription) connect(at collector.Position) (collector.Input, error) {
	if at.Frames > 0 || s.body != nil && s.now().Sub(s.since) >= healthy {
		s.fails = 0
	}
	for {
		s.close()
		if renewed := s.prepare(); s.began {
			if !renewed && s.pause(s.attempt, s.wait(at)) != nil && s.ctx.Err() == nil {
				continue // the pause was for settings that are gone
			}
			if s.ctx.Err() != nil {
				return collector.Input{}, s.ctx.Err()
			}
			s.counters.Reconnected(s.settings.Name)
		}
		s.began = true
		in, err := s.subscribe(at.LastEventID)
		s.fails++ // unless it brings a frame
		s.refused = nil
		errors.As(err, &s.refused)
		switch {
		case s.ctx.Err() != nil:
			return collector.Input{}, s.ctx.Err()
		case errors.Is(err, errOver):
			return collector.Input{}, io.EOF
		case err == nil:
			s.found()
			return in, nil
		case s.renewed.Err() != nil:
			continue
		}
		s.miss(err)
	}
}

// wait is how long to wait before the next attempt: twice as long each time, never less than was asked for, and some more, so that
// not all come back at once.
func (s *subscription) wait(at collector.Position) time.Duration {
	wait := firstPause
	if at.Asked {
		wait = min(max(at.Retry, 100*time.Millisecond), longestRetry)
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
	return wait + rand.N(wait/2)
}

// subscribe asks for the stream once.
func (s *subscription) subscribe(last string) (collector.Input, error) {
	r, err := http.NewRequestWithContext(s.attempt, http.MethodGet, s.url, nil)
	if err != nil {
		return collector.Input{}, &refusal{why: "its URL is none", lasting: true}
	}
	for name, value := range s.headers {
		text, err := value()
		if err != nil {
			return collector.Input{}, &refusal{why: fmt.Sprintf("header %s: %v", name, err), lasting: true}
		}
		r.Header.Set(name, text)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Cache-Control", "no-cache")
	if last != "" && !strings.ContainsFunc(last, unsendable) {
		r.Header.Set("Last-Event-ID", last)
	}
	connected := false
	resp, err := s.client.Do(r.WithContext(httptrace.WithClientTrace(s.attempt, &httptrace.ClientTrace{
		GetConn: func(string) { connected = false },
		GotConn: func(httptrace.GotConnInfo) { connected = true },
	})))
	if err != nil {
		return collector.Input{}, plain(err, connected)
	}
	if err := unfit(resp, s.now()); err != nil {
		resp.Body.Close()
		return collector.Input{}, err
	}
	s.body, s.since = resp.Body, s.now()
	read := &arrivals{Reader: resp.Body, now: s.now, heard: s.heard}
	in := collector.Input{Reader: read, Arrival: func() time.Time { return read.at }}
	known := s.known.note(func() { s.counters.Repeated(s.settings.Name) })
	s.ids.resume()
	in.Known = func(f sse.Frame) bool {
		if n := s.ids.missed(f.ID); n > 0 {
			s.counters.Missed(s.settings.Name, n)
		}
		return known(f)
	}
	return in, nil
}

// unsendable says of a character of an id that no header may hold it: net/http would refuse the request, at every attempt.
func unsendable(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }

// plain is what may be logged of the client's error: without the URL, which may hold a key, and nothing that it quotes of an answer.
func plain(err error, connected bool) error {
	var asked *url.Error
	if errors.As(err, &asked) {
		err = asked.Err
	}
	var own *refusal
	var network net.Error
	if connected && !errors.As(err, &own) && !errors.As(err, &network) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return errNoHTTP
	}
	return err
}

// errOver stands for the agent's word that there is no more. It is not io.EOF: that is what an agent leaves which dies before it
// answers.
var errOver = errors.New("there is no more")

// unfit says why an answer is no stream: errOver where it says that there is no more, as WHATWG HTML 9.2 has 204 mean. A browser
// gives up after any other status too; we do not, since nobody is there to load the page again.
func unfit(resp *http.Response, now time.Time) error {
	switch status := resp.StatusCode; {
	case status == http.StatusNoContent:
		return errOver
	case status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status == http.StatusNotFound || status >= 500:
		return &refusal{
			why: "it answered " + strconv.Itoa(status), after: retryAfter(resp.Header.Get("Retry-After"), now), absent: status == http.StatusNotFound,
		}
	case status != http.StatusOK:
		return &refusal{why: "it answered " + strconv.Itoa(status), lasting: true}
	case !isStream(resp.Header):
		return &refusal{why: "its answer is no text/event-stream", lasting: true}
	case contentEncoding(resp.Header) != "": // the client has undone gzip, and asked for nothing else
		return &refusal{why: "its answer is encoded, and not as gzip", lasting: true}
	}
	return nil
}

// isStream holds to the media type, with any parameters: WHATWG HTML 9.2.
func isStream(h http.Header) bool {
	media, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(media), "text/event-stream")
}

// retryAfter is what an answer asks for, in seconds or until a date: RFC 9110, 10.2.3.
func retryAfter(asked string, now time.Time) time.Duration {
	if date, err := http.ParseTime(asked); err == nil {
		return max(date.Sub(now), 0)
	}
	seconds, _ := strconv.Atoi(asked)
	return time.Duration(min(max(seconds, 0), 3600)) * time.Second
}

// miss says that there is no stream: once, until the reason is another. An agent that does not know a session is up: whoever asks a
// proxy for a run can name one that does not exist.
func (s *subscription) miss(err error) {
	if absent := s.refused != nil && s.refused.absent; !absent || !s.PerSession() {
		s.counters.Up(s.settings.Name, false)
	}
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
