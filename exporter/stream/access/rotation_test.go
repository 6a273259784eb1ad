package access

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// heartbeatHandler serves streams that check their grant every 15 seconds.
func heartbeatHandler(g *Authorizer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		grant, err := g.Authorize(r)
		if err != nil {
			refuse(w)
			return
		}
		beat := time.NewTicker(15 * time.Second)
		defer beat.Stop()
		for grant.Valid() {
			io.WriteString(w, ":\n\n")
			http.NewResponseController(w).Flush()
			select {
			case <-beat.C:
			case <-r.Context().Done():
				return
			}
		}
	})
	return mux
}

func TestRotationWhileStreamsAreOpen(t *testing.T) {
	path := tokensAt(t, file)
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, Settings{TokensFile: path})
		p := newPipes()
		serve(t, p, heartbeatHandler(g), "", Shutdown{Grace: time.Second})
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return p.dial(), nil }}
		defer transport.CloseIdleConnections()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		open := func(target, token string) (ended chan struct{}) {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://h"+target, nil)
			if err != nil {
				t.Fatal(err)
			}
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			answer, err := transport.RoundTrip(r)
			if err != nil || answer.StatusCode != http.StatusOK {
				t.Fatalf("%v, %v", answer, err)
			}
			ended = make(chan struct{})
			go func() {
				defer close(ended)
				defer answer.Body.Close()
				io.Copy(io.Discard, answer.Body)
			}()
			return ended
		}
		over := func(ended chan struct{}) bool {
			synctest.Wait()
			select {
			case <-ended:
				return true
			default:
				return false
			}
		}
		byToken, byTicket := open("/events", alice), open("/events?ticket="+ticketOf(t, g, alice), "")
		others := open("/events", bob)
		time.Sleep(2 * ticketLife)
		if over(byToken) || over(byTicket) || over(others) {
			t.Error("a stream ended though its token is still there")
		}
		write(t, path, "broken")
		time.Sleep(time.Minute)
		if over(byToken) || over(byTicket) || over(others) {
			t.Error("a mistake in the file ended a stream")
		}
		write(t, path, strings.ReplaceAll(file, alice, alice+"-2"))
		time.Sleep(time.Minute)
		if !over(byToken) || !over(byTicket) {
			t.Error("a stream continued after its token was removed")
		}
		if over(others) {
			t.Error("a stream ended although another token was removed")
		}
		renewed := open("/events", alice+"-2")
		if over(renewed) {
			t.Error("the new token is refused")
		}
		cancel()
		<-others
		<-renewed
	})
}
