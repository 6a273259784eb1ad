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

// between is how long a client thinks before it asks again.
const between = time.Second

// asking is one question of a client.
type asking struct {
	ctx     context.Context
	client  *http.Client
	proxy   string // the address that stands for the agent's
	session string
	id      string
	before  []byte // what it heard in the same session
}

func (q *asking) post(path string, what object) ([]byte, error) {
	return q.request(http.MethodPost, path, encoded(what), q.id)
}

func (q *asking) get(path string) ([]byte, error) { return q.request(http.MethodGet, path, nil, q.id) }

// aside is a request whose answer is not the run's.
func (q *asking) aside(path string, what object) ([]byte, error) {
	return q.request(http.MethodPost, path, encoded(what), "")
}

func (q *asking) request(method, path string, what io.Reader, id string) ([]byte, error) {
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

// drive has a user ask an agent for their part of so many stories, one after another, through the proxy before it; for all and
// again, where the number is 0.
func (a *agent) drive(ctx context.Context, client *http.Client, proxy string, user, runs int) error {
	q := asking{ctx: ctx, client: client, proxy: proxy}
	if !slices.ContainsFunc(stories, func(s story) bool { return s.source == a.source && s.user == user }) {
		return nil
	}
	for n := 0; runs == 0 || n < runs; n++ {
		s := &stories[n%len(stories)]
		if s.source != a.source || s.user != user {
			continue
		}
		if q.id != "" && !pause(ctx, between) {
			return nil
		}
		q.id = fmt.Sprintf("%s-%d", a.source, n+1)
		if !s.goesOn {
			q.session, q.before = q.id, nil
		}
		said := a.witness(q.id)
		heard, err := protocols[a.source].ask(&q, s.question)
		want := s.heard(said())
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", a.source, err)
		case !bytes.Equal(heard, want):
			return fmt.Errorf("%s: the client got %d bytes that are not the %d it should get of what the agent said", a.source, len(heard), len(want))
		}
		q.before = heard
	}
	return nil
}
