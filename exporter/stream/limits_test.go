package stream

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

func TestLimits(t *testing.T) {
	browsers := []string{"Origin: https://app.example.org", "Sec-Fetch-Mode: cors"}
	bubble(t, func(set *Settings) {
		set.MaxSubscribers, set.MaxSubscribersPerToken = 5, 2
		set.Authorize = func(r *http.Request) (Grant, error) { return Grant{Token: r.Header.Get("Authorization")}, nil }
	}, func(s *stand) {
		first := s.get("/events", "Authorization: a")
		s.get("/events", "Authorization: a")
		s.refused("Authorization: a", "this token has too many open streams")
		s.counted("refused token_full status", 1)
		for range 3 {
			s.get("/events") // without a token, only the total limit applies
		}
		s.refused("Authorization: b", "too many subscribers")
		s.counted("refused full status", 1)
		for _, browser := range browsers {
			s.askedToRetry(browser)
		}
		s.counted("refused full retry", 2)
		s.refused("Accept: text/event-stream", "too many subscribers")
		s.refused(browsers[0], "too many subscribers")
		if n := s.seen.subscribers.Load(); n != 5 {
			s.Errorf("%d subscribers are connected", n)
		}
		first.leave()
		s.expect(s.get("/events", "Authorization: a"), "id: e-0\n: open\n\n")
	})
}

func (s *stand) refused(header, says string) {
	s.Helper()
	c := s.get("/events", header)
	response, body := c.response(s.T)
	after, err := strconv.Atoi(response.Header.Get("Retry-After"))
	if response.StatusCode != 503 || err != nil || after < 1 || after > 5 || !strings.Contains(body, says) {
		s.Errorf("%s: %d %v %q", header, response.StatusCode, response.Header, body)
	}
	c.leave()
}

func (s *stand) askedToRetry(header string) {
	s.Helper()
	c := s.get("/events", "Accept: text/event-stream", header)
	response, body := c.response(s.T)
	ms, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(body, "retry: "), "\n\n"))
	if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/event-stream" || err != nil || ms < 2000 || ms > 10_000 {
		s.Errorf("%s: %d %v %q", header, response.StatusCode, response.Header, body)
	}
	c.leave()
}

// TestTokensAreForgotten opens and closes streams of many tokens, and checks that no token is kept.
func TestTokensAreForgotten(t *testing.T) {
	s := newSlots(10, 2, func(int) {})
	for i := range 1000 {
		token := fmt.Sprint(i)
		if s.acquire(token) != NotRefused {
			t.Fatal("refused")
		}
		s.release(token)
	}
	if len(s.byToken) != 0 {
		t.Errorf("%d names are kept", len(s.byToken))
	}
}
