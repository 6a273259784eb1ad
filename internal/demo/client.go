package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

// thinkTime is the time between an answer and the user's next question.
const thinkTime = time.Second

// question is one question of a user, with its session.
type question struct {
	ctx        context.Context
	client     *http.Client
	proxy      string // the base URL of the proxy
	session    string
	id         string
	lastAnswer []byte // the previous answer in the session
}

func (q *question) post(path string, what object) ([]byte, error) {
	return q.request(http.MethodPost, path, encode(what), q.id)
}

func (q *question) get(path string) ([]byte, error) {
	return q.request(http.MethodGet, path, nil, q.id)
}

// postAside sends a request whose answer is not the stream of the run.
func (q *question) postAside(path string, what object) ([]byte, error) {
	return q.request(http.MethodPost, path, encode(what), "")
}

func (q *question) request(method, path string, what io.Reader, id string) ([]byte, error) {
	r, err := http.NewRequestWithContext(q.ctx, method, q.proxy+path, what)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "text/event-stream, application/json")
	if what != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if id != "" {
		r.Header.Set(requestID, id)
	}
	resp, err := q.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	heard, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: %s: %.200s", method, path, resp.Status, heard)
	}
	return heard, err
}

// drive asks an agent through its proxy for one user's share of the given number of runs, one after another. If
// runs is 0, it repeats all stories until the context is done.
func (a *agent) drive(ctx context.Context, client *http.Client, proxy string, user, runs int) error {
	q := question{ctx: ctx, client: client, proxy: proxy}
	if !slices.ContainsFunc(stories, func(s story) bool { return s.source == a.source && s.user == user }) {
		return nil
	}
	for n := 0; runs == 0 || n < runs; n++ {
		s := &stories[n%len(stories)]
		if s.source != a.source || s.user != user {
			continue
		}
		if q.id != "" && !pause(ctx, thinkTime) {
			return nil
		}
		q.id = fmt.Sprintf("%s-%d", a.source, n+1)
		if !s.continues {
			q.session, q.lastAnswer = q.id, nil
		}
		said := a.record(q.id)
		heard, err := protocols[a.source].ask(&q, s.question)
		want := s.expected(said())
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", a.source, err)
		case !bytes.Equal(heard, want):
			return fmt.Errorf("%s: the client got %d bytes, not the expected %d bytes of the agent's answer", a.source, len(heard), len(want))
		}
		q.lastAnswer = heard
	}
	return nil
}
