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

// Limits of tickets. At a limit, the oldest ticket of a token is evicted: it is the least likely to be used. At the limit of all
// tickets, that is the token with the most.
const (
	ticketLife        = 60 * time.Second
	maxTicketsOfToken = 100
)

// tickets holds the unused tickets. Each opens one connection.
type tickets struct {
	now     func() time.Time
	limit   int
	evicted atomic.Uint64

	mu      sync.Mutex
	unused  *simplelru.LRU[digest, ticket] // entries are never refreshed, so they are ordered by expiry
	byToken map[digest][]digest            // oldest first
}

type ticket struct {
	token   digest
	expires time.Time
}

func newTickets(now func() time.Time, limit int) *tickets {
	t := &tickets{now: now, limit: max(limit, 1), byToken: make(map[digest][]digest)}
	// The only possible error is a size below one.
	t.unused, _ = simplelru.NewLRU(t.limit+1, t.onRemove)
	return t
}

// onRemove removes a ticket from byToken after it was removed from unused.
func (t *tickets) onRemove(d digest, removed ticket) {
	rest := slices.DeleteFunc(t.byToken[removed.token], func(other digest) bool { return other == d })
	if t.byToken[removed.token] = rest; len(rest) == 0 {
		delete(t.byToken, removed.token)
	}
}

// issue returns a new ticket for a token.
func (t *tickets) issue(token digest) string {
	secret := rand.Text() // at least 128 bits
	d := digestOf(secret)
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	t.expire(now)
	if all := t.byToken[token]; len(all) == maxTicketsOfToken {
		t.unused.Remove(all[0])
		t.evicted.Add(1)
	}
	t.unused.Add(d, ticket{token: token, expires: now.Add(ticketLife)})
	t.byToken[token] = append(t.byToken[token], d)
	if t.unused.Len() > t.limit {
		t.unused.Remove(t.oldestOfMost())
		t.evicted.Add(1)
	}
	return secret
}

// oldestOfMost returns the oldest ticket of the token with the most tickets. Of several such tokens, it is the one with the oldest
// ticket.
func (t *tickets) oldestOfMost() (oldest digest) {
	most, expires := 0, time.Time{}
	for _, all := range t.byToken {
		first, _ := t.unused.Peek(all[0])
		if n := len(all); n > most || n == most && first.expires.Before(expires) {
			most, expires, oldest = n, first.expires, all[0]
		}
	}
	return oldest
}

// redeem uses up a ticket and returns its token.
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

// ServeTicket handles POST /tickets. It exchanges a bearer token for a ticket, which Authorize
// accepts once as ?ticket= within 60 seconds, for clients whose EventSource cannot send headers.
// The ticket has the sessions of the token and is invalid once the token is.
func (g *Authorizer) ServeTicket(w http.ResponseWriter, r *http.Request) {
	token, _ := bearerToken(r.Header)
	if _, err := g.tokenGrant(token); err != nil {
		refuse(w)
		return
	}
	if r.URL.RawQuery != "" {
		http.Error(w, "a ticket request takes no query parameters: the ticket has the sessions of its token", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	// If the write fails, the client is gone.
	_ = json.NewEncoder(w).Encode(struct {
		Ticket    string `json:"ticket"`
		ExpiresIn int    `json:"expires_in"` // seconds
	}{g.tickets.issue(digestOf(token)), int(ticketLife.Seconds())})
}
