package access

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Limits of tickets. The oldest makes room, since it is the one most likely forgotten.
const (
	ticketLife        = 60 * time.Second
	maxTicketsOfToken = 100
)

// tickets are the keys to one connection each that are out and unused.
type tickets struct {
	now     func() time.Time
	evicted atomic.Uint64

	mu      sync.Mutex
	unused  *simplelru.LRU[digest, ticket] // never touched between Add and Remove, so its order is that of expiry
	byToken map[digest][]digest            // the oldest first
}

type ticket struct {
	token   digest
	expires time.Time
}

func newTickets(now func() time.Time, limit int) *tickets {
	t := &tickets{now: now, byToken: make(map[digest][]digest)}
	// The only error is a size below one.
	t.unused, _ = simplelru.NewLRU(max(limit, 1), t.forget)
	return t
}

// forget is called for whatever leaves unused.
func (t *tickets) forget(d digest, left ticket) {
	others := t.byToken[left.token]
	if len(others) == 1 {
		delete(t.byToken, left.token)
		return
	}
	t.byToken[left.token] = slices.DeleteFunc(others, func(other digest) bool { return other == d })
}

func (t *tickets) issue(token digest) string {
	secret := rand.Text() // at least 128 bits
	d := digestOf(secret)
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	t.expire(now)
	if out := t.byToken[token]; len(out) == maxTicketsOfToken {
		t.unused.Remove(out[0])
		t.evicted.Add(1)
	}
	if t.unused.Add(d, ticket{token: token, expires: now.Add(ticketLife)}) {
		t.evicted.Add(1)
	}
	t.byToken[token] = append(t.byToken[token], d)
	return secret
}

// redeem uses a ticket up, and gives the token that it stands for.
func (t *tickets) redeem(secret string) (token digest, redeemed bool) {
	d := digestOf(secret)
	t.mu.Lock()
	defer t.mu.Unlock()
	found, known := t.unused.Peek(d)
	t.unused.Remove(d)
	return found.token, known && t.now().Before(found.expires)
}

func (t *tickets) expire(now time.Time) {
	for {
		_, oldest, found := t.unused.GetOldest()
		if !found || now.Before(oldest.expires) {
			return
		}
		t.unused.RemoveOldest()
	}
}

// ServeTicket answers POST /tickets: for a bearer token, and for nothing else, a ticket that Authorize takes once as
// ?ticket= within 60 seconds, for those whose EventSource can send no header. It has the token's sessions and dies with
// the token.
func (g *Gate) ServeTicket(w http.ResponseWriter, r *http.Request) {
	token, _ := bearer(r.Header)
	if _, err := g.ofToken(token); err != nil {
		Refuse(w)
		return
	}
	if r.URL.RawQuery != "" {
		http.Error(w, "a ticket takes no query parameters: it has the sessions of its token", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	// An error of the connection is its reader's to notice.
	_ = json.NewEncoder(w).Encode(struct {
		Ticket    string `json:"ticket"`
		ExpiresIn int    `json:"expires_in"` // seconds
	}{g.tickets.issue(digestOf(token)), int(ticketLife.Seconds())})
}
