package access

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func requestTicket(g *Authorizer, target string, authorization ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, target, nil)
	for _, value := range authorization {
		r.Header.Add("Authorization", value)
	}
	w := httptest.NewRecorder()
	g.ServeTicket(w, r)
	return w
}

func ticketOf(t *testing.T, g *Authorizer, token string) string {
	t.Helper()
	w := requestTicket(g, "/tickets", "Bearer "+token)
	var answer struct {
		Ticket    string
		ExpiresIn int `json:"expires_in"`
	}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil || w.Code != http.StatusOK {
		t.Fatalf("a ticket: %d %q", w.Code, w.Body)
	}
	if len(answer.Ticket) < 26 || answer.ExpiresIn != 60 || w.Header().Get("Cache-Control") != "no-store" {
		t.Fatalf("the ticket is %+v with %v", answer, w.Header())
	}
	return answer.Ticket
}

func redeems(g *Authorizer, ticket string) bool {
	_, err := g.Authorize(streamRequest("/events?ticket=" + url.QueryEscape(ticket)))
	return err == nil
}

func TestTicketIsUsedOnce(t *testing.T) {
	g := newGate(t, Settings{TokensFile: tokensAt(t, file)})
	ticket := ticketOf(t, g, bob)
	grant, err := g.Authorize(streamRequest("/events/s-1?kind=text&ticket=" + ticket))
	if err != nil || grant.Token != "bob" || !grant.allows("s-1") || grant.allows("s-2") || !grant.Valid() {
		t.Errorf("a ticket gives %+v, %v; want the token's grant", grant, err)
	}
	if redeems(g, ticket) {
		t.Error("a ticket was taken twice")
	}
}

func TestTicketIsUsedOnceByMany(t *testing.T) {
	g := newGate(t, Settings{TokensFile: tokensAt(t, file)})
	ticket := ticketOf(t, g, alice)
	var won atomic.Int32
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			if redeems(g, ticket) {
				won.Add(1)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d connections by one ticket, want 1", won.Load())
	}
}

func TestTicketExpires(t *testing.T) {
	path := tokensAt(t, file)
	for _, test := range []struct {
		after time.Duration
		want  bool
	}{{ticketLife - 1, true}, {ticketLife, false}, {time.Hour, false}} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate(t, Settings{TokensFile: path})
			ticket := ticketOf(t, g, alice)
			time.Sleep(test.after)
			if got := redeems(g, ticket); got != test.want {
				t.Errorf("a ticket is taken after %s: %v, want %v", test.after, got, test.want)
			}
		})
	}
}

func TestTicketGuessed(t *testing.T) {
	g := newGate(t, Settings{TokensFile: tokensAt(t, file)})
	ticket := ticketOf(t, g, alice)
	for _, target := range []string{
		"/events?ticket=",
		"/events?ticket",
		"/events?ticket=" + strings.ToLower(ticket),
		"/events?ticket=" + ticket[1:],
		"/events?ticket=" + ticket + "%20",
		"/events?ticket=" + ticket + "%00",
		"/events?ticket=" + strings.Repeat("A", len(ticket)),
		"/events?ticket=" + alice,
		"/events?Ticket=" + ticket,
		"/events?ticket=" + ticket + "&ticket=" + ticket,
		"/events?ticket=&ticket=" + ticket,
		"/events?x=1;ticket=" + ticket,
		"/events?ticket=" + strings.Repeat("A", 1<<20),
	} {
		if _, err := g.Authorize(streamRequest(target)); err == nil {
			t.Errorf("%.80s: granted", target)
		}
	}
	for _, authorization := range []string{"Bearer " + alice, "Bearer wrong", "Bearer", "Bearer " + ticket} {
		if _, err := g.Authorize(streamRequest("/events?ticket="+ticket, authorization)); err == nil {
			t.Errorf("ticket and %s: granted, want one or the other", authorization)
		}
	}
	open := newGate(t, Settings{AnonymousAnywhere: true})
	for _, target := range []string{"/events?ticket=", "/events?ticket=wrong", "/events?ticket=a&ticket=b"} {
		if _, err := open.Authorize(streamRequest(target)); err == nil {
			t.Errorf("%s: falls back to what it would get without", target)
		}
	}
	if granted(g, "Bearer "+ticket) {
		t.Error("a ticket is taken as a bearer token")
	}
	if !redeems(g, ticket) {
		t.Error("refused attempts used the ticket up")
	}
}

func TestTicketBuysNoTicket(t *testing.T) {
	g := newGate(t, Settings{TokensFile: tokensAt(t, file), ClientCertificates: true, AnonymousAnywhere: true})
	ticket := ticketOf(t, g, alice)
	for _, test := range []struct {
		target        string
		authorization []string
	}{
		{"/tickets", nil},
		{"/tickets?ticket=" + ticket, nil},
		{"/tickets", []string{"Bearer " + ticket}},
		{"/tickets?ticket=" + ticket, []string{"Bearer " + ticket}},
		{"/tickets", []string{"Ticket " + ticket}},
		{"/tickets", []string{"Bearer " + alice, "Bearer " + alice}},
		{"/tickets", []string{"Basic YTpi"}},
	} {
		if w := requestTicket(g, test.target, test.authorization...); w.Code != http.StatusUnauthorized || strings.Contains(w.Body.String(), "ticket") {
			t.Errorf("POST %s with %q: %d %s, want 401", test.target, test.authorization, w.Code, w.Body)
		}
	}
	if !redeems(g, ticket) {
		t.Error("refused attempts used the ticket up")
	}
	if w := requestTicket(newGate(t, Settings{AnonymousLoopback: true}), "/tickets", "Bearer "+alice); w.Code != http.StatusUnauthorized {
		t.Errorf("without a tokens file: %d, want 401", w.Code)
	}
}

// TestTicketParameters checks that parameters that seem to restrict a ticket, but would not, are refused.
func TestTicketParameters(t *testing.T) {
	g := newGate(t, Settings{TokensFile: tokensAt(t, file)})
	for _, target := range []string{"/tickets?session=s-1", "/tickets?", "/tickets?%zz"} {
		w, want := requestTicket(g, target, "Bearer "+bob), http.StatusBadRequest
		if target == "/tickets?" {
			want = http.StatusOK
		}
		if w.Code != want {
			t.Errorf("POST %s: %d %s, want %d", target, w.Code, w.Body, want)
		}
	}
}

func TestTicketDiesWithItsToken(t *testing.T) {
	w := watch(t, file)
	unused, used := ticketOf(t, w.Authorizer, alice), ticketOf(t, w.Authorizer, alice)
	grant, err := w.Authorize(streamRequest("/events?ticket=" + used))
	if err != nil {
		t.Fatal(err)
	}
	bound := ticketOf(t, w.Authorizer, bob)
	write(t, w.path, bob+" session=s-9")
	w.advance(checkInterval)
	if grant.Valid() || redeems(w.Authorizer, unused) {
		t.Error("a ticket outlived its token")
	}
	if grant, err := w.Authorize(streamRequest("/events?ticket=" + bound)); err != nil || grant.allows("s-1") || !grant.allows("s-9") {
		t.Errorf("a ticket gives %+v, %v; want the sessions that the token has now", grant, err)
	}
}

func TestTicketsAreBounded(t *testing.T) {
	var content strings.Builder
	perToken := maxTickets / maxTicketsOfToken
	for i := range perToken + 1 {
		fmt.Fprintf(&content, "token-%022d\n", i)
	}
	clock := newClock()
	g := newGate(t, Settings{TokensFile: tokensAt(t, content.String()), Now: clock.Now})
	tokenOf := func(i int) string { return fmt.Sprintf("token-%022d", i) }

	first, second := ticketOf(t, g, tokenOf(0)), ticketOf(t, g, tokenOf(0))
	for range maxTicketsOfToken - 1 {
		ticketOf(t, g, tokenOf(0))
	}
	if g.Counts().EvictedTickets != 1 || redeems(g, first) {
		t.Errorf("%d evicted, want the oldest of a token's first %d", g.Counts().EvictedTickets, maxTicketsOfToken+1)
	}
	clock.advance(1)
	for i := range perToken - 1 {
		for range maxTicketsOfToken {
			ticketOf(t, g, tokenOf(i+1))
		}
	}
	if g.Counts().EvictedTickets != 1 || g.tickets.unused.Len() != maxTickets {
		t.Fatalf("%d evicted, %d unused; want room for %d", g.Counts().EvictedTickets, g.tickets.unused.Len(), maxTickets)
	}
	last := ticketOf(t, g, tokenOf(perToken))
	if g.Counts().EvictedTickets != 2 || redeems(g, second) || !redeems(g, last) {
		t.Errorf("%d evicted, want the oldest of all to make room", g.Counts().EvictedTickets)
	}

	clock.advance(ticketLife)
	ticketOf(t, g, tokenOf(0))
	if g.tickets.unused.Len() != 1 || len(g.tickets.byToken) != 1 || g.Counts().EvictedTickets != 2 {
		t.Errorf("%d unused of %d tokens, %d evicted; want expired tickets gone, and not counted",
			g.tickets.unused.Len(), len(g.tickets.byToken), g.Counts().EvictedTickets)
	}
}

// TestTicketsOfAnotherToken fills the room with tickets of one token. Only that token loses some, until others have as many.
func TestTicketsOfAnotherToken(t *testing.T) {
	clock := newClock()
	held := newTickets(clock.Now, 6)
	issue := func(token string) string {
		clock.advance(time.Millisecond)
		return held.issue(digestOf(token))
	}
	wants := func(want ...string) {
		t.Helper()
		for _, secret := range want {
			if _, known := held.unused.Peek(digestOf(secret)); !known || held.unused.Len() != 6 {
				t.Errorf("a ticket of %d was evicted, want %d others to be", held.unused.Len(), held.evicted.Load())
			}
		}
	}
	a, b := issue(alice), issue(bob)
	for range 20 {
		issue(carol)
	}
	wants(a, b)
	a2, b2, c := issue(alice), issue(bob), issue(carol)
	wants(a, b, a2, b2, c)
	b3 := issue(bob)
	wants(a, a2, b2, b3, c)
	d := issue("dora")
	wants(a2, b2, b3, c, d)
	if n := held.evicted.Load(); n != 21 {
		t.Errorf("%d evicted, want 21", n)
	}
}

func TestTicketsWhileTheFileChanges(t *testing.T) {
	w := watch(t, file)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				grant, _ := w.Authorize(streamRequest("/events?ticket=" + w.tickets.issue(digestOf(alice))))
				grant.Valid()
			}
		})
	}
	for i := range 20 {
		write(t, w.path, file+strings.Repeat("#\n", i%2))
		w.advance(checkInterval)
		if err := w.Reload(); err != nil {
			t.Error(err)
		}
	}
	all.Wait()
	if w.tickets.unused.Len() != 0 || len(w.tickets.byToken) != 0 {
		t.Errorf("%d unused of %d tokens, want none", w.tickets.unused.Len(), len(w.tickets.byToken))
	}
}
