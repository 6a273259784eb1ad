package stream

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestAdmission lets 10,000 subscribers arrive at once. Each returns at a random second of the time that the refusal
// gives it. The returns must be spread. No second may admit more than the rate and the burst allow. All must be
// admitted in about the time that the rate requires.
func TestAdmission(t *testing.T) {
	const rate, burst, subscribers = 200, 50, 10_000
	a, start := newAdmission(rate, burst), time.Unix(1, 0)
	random := rand.New(rand.NewPCG(3, 4))
	returns := make([]time.Duration, subscribers) // when each subscriber tries again
	admitted, refused := map[int]int{}, map[int]int{}
	last := 0
	for len(returns) > 0 {
		slices.Sort(returns)
		at := returns[0]
		returns = returns[1:]
		last = int(at.Seconds())
		if ok, within := a.admit(start.Add(at)); ok {
			admitted[last]++
		} else {
			refused[last]++
			if within <= 0 || within > maxRetryAfter {
				t.Fatalf("within %v", within)
			}
			returns = append(returns, at+time.Second+time.Duration(random.Int64N(int64(within)+1)))
		}
	}
	all, again := 0, 0
	for second, n := range admitted {
		if n > rate+burst+1 {
			t.Errorf("%d were admitted in second %d", n, second)
		}
		all, again = all+n, again+refused[second]
	}
	if all != subscribers {
		t.Errorf("%d were admitted", all)
	}
	if ideal := subscribers / rate; last > 3*ideal {
		t.Errorf("the last subscriber is admitted after %d s; %d s are enough", last, ideal)
	}
	t.Logf("the last of %d subscribers is admitted after %d s, with %d refusals", subscribers, last, again)
}

// TestAdmissionBounds checks an idle bucket, a bucket without a limit, and a clock that is set back.
func TestAdmissionBounds(t *testing.T) {
	now := time.Unix(1_000, 0)
	free := newAdmission(0, 1)
	for range 1000 {
		if ok, _ := free.admit(now); !ok {
			t.Fatal("refused without a limit")
		}
	}
	a := newAdmission(0.5, 2)
	for i, c := range []struct {
		after  time.Duration
		ok     bool
		within time.Duration
	}{
		{0, true, 0}, {0, true, 0}, {0, false, 2 * time.Second}, {0, false, 4 * time.Second},
		{time.Second, false, 5 * time.Second}, {time.Second, true, 0}, {-time.Hour, false, 0}, {time.Hour, true, 0}, {0, true, 0}, {0, false, 2 * time.Second},
	} {
		now = now.Add(c.after)
		if ok, within := a.admit(now); ok != c.ok || c.within != 0 && within != c.within {
			t.Errorf("attempt %d: admitted %v, return within %v", i, ok, within)
		}
	}
	for range 10_000 {
		if _, within := a.admit(now); within > maxRetryAfter {
			t.Fatalf("within %v", within)
		}
	}
}

// TestArrivals checks the responses to subscribers that arrive too fast.
func TestArrivals(t *testing.T) {
	bubble(t, func(set *Settings) {
		set.ArrivalRate, set.ArrivalBurst = 1, 2
		set.Authorize = func(r *http.Request) (Grant, error) {
			if r.Header.Get("Authorization") == "" {
				return Grant{}, fmt.Errorf("no token")
			}
			return Grant{}, nil
		}
	}, func(s *stand) {
		for range 5 { // unauthorized requests use up no admissions
			if response, _ := s.get("/events").response(s.T); response.StatusCode != 401 {
				s.Errorf("the status is %d, want 401", response.StatusCode)
			}
		}
		s.get("/events", "Authorization: Bearer a")
		s.get("/events", "Authorization: Bearer b")
		response, body := s.get("/events", "Authorization: Bearer c").response(s.T)
		after, err := strconv.Atoi(response.Header.Get("Retry-After"))
		if response.StatusCode != 503 || err != nil || after < 1 || after > 3 || !strings.Contains(body, "too many subscribers arrive") {
			s.Errorf("the response is %d %v %q", response.StatusCode, response.Header, body)
		}
		browser := s.get("/events", "Authorization: Bearer d", "Accept: text/event-stream", "Origin: https://app.example.org")
		if _, body := browser.response(s.T); !strings.HasPrefix(body, "retry: ") {
			s.Errorf("a browser gets %q", body)
		}
		s.counted("refused rate status", 1)
		s.counted("refused rate retry", 1)
		time.Sleep(time.Second) // of the bubble's clock
		s.get("/events", "Authorization: Bearer c")
		if n := s.seen.subscribers.Load(); n != 3 {
			s.Errorf("%d subscribers are connected", n)
		}
	})
}
