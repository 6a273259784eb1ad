package access

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// allows reports whether the grant includes the session. Frames without a session ("") are only for grants that include all.
func (g Grant) allows(session string) bool {
	return g.Sessions == nil || slices.Contains(g.Sessions, session)
}

const (
	alice = "alice-0123456789abcdefgh"
	bob   = "bob+/~._0123456789abcdef=="
	carol = "carol-is-only-in-the-file-as-a-hash"
)

// file has a token for all sessions, one bound to two sessions, and a hashed one.
var file = alice + " name=alice\n" + bob + " session=s-1 session=caf%C3%A9%20%25 name=bob\n" + hashed(carol) + "\n"

func hashed(token string) string {
	hash := sha256.Sum256([]byte(token))
	return "sha256:" + hex.EncodeToString(hash[:])
}

// write replaces a file by renaming, as operators should.
func write(t *testing.T, path, content string) {
	t.Helper()
	fresh := path + ".new"
	if err := os.WriteFile(fresh, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(fresh, path); err != nil {
		t.Fatal(err)
	}
}

func tokensAt(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "readers")
	write(t, path, content)
	return path
}

const maxTickets = 10_000

func newGate(t *testing.T, s Settings) *Authorizer {
	s.MaxTickets = maxTickets
	t.Helper()
	g, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// streamRequest returns a request for a stream with the given Authorization headers.
func streamRequest(target string, authorization ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, target, nil)
	for _, value := range authorization {
		r.Header.Add("Authorization", value)
	}
	return r
}

func granted(g *Authorizer, authorization ...string) bool {
	_, err := g.Authorize(streamRequest("/events", authorization...))
	return err == nil
}

// clock is a clock that tests set.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) Now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.now }

func (c *clock) advance(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.now = c.now.Add(d) }

func TestAuthorizeBearer(t *testing.T) {
	const word = "swordfish"
	g := newGate(t, Settings{TokensFile: tokensAt(t, file+hashed(word)+"\n"+hashed("")+"\n")})
	for _, test := range []struct {
		name          string
		authorization []string
		want          string // the grant's Token, or "" for a refusal
	}{
		{"token", []string{"Bearer " + alice}, "alice"},
		{"padded token", []string{"Bearer " + bob}, "bob"},
		{"hashed token", []string{"Bearer " + carol}, hashed(carol)[:len("sha256:")+12]},
		{"scheme in any case", []string{"bEARER " + alice}, "alice"},
		{"more spaces", []string{"Bearer    " + alice}, "alice"},
		{"nothing", nil, ""},
		{"empty", []string{""}, ""},
		{"scheme only", []string{"Bearer"}, ""},
		{"scheme and space", []string{"Bearer "}, ""},
		{"token only", []string{alice}, ""},
		{"no space", []string{"Bearer" + alice}, ""},
		{"tab", []string{"Bearer\t" + alice}, ""},
		{"space behind", []string{"Bearer " + alice + " "}, ""},
		{"two tokens", []string{"Bearer " + alice + " " + alice}, ""},
		{"list", []string{"Bearer " + alice + ", Bearer " + bob}, ""},
		{"two headers", []string{"Bearer " + alice, "Bearer " + alice}, ""},
		{"two headers, one empty", []string{"Bearer " + alice, ""}, ""},
		{"two headers, one of another scheme", []string{"Basic YTpi", "Bearer " + alice}, ""},
		{"another scheme", []string{"Basic " + alice}, ""},
		{"scheme that begins alike", []string{"BearerX " + alice}, ""},
		{"NUL", []string{"Bearer " + alice + "\x00"}, ""},
		{"NUL in front", []string{"\x00Bearer " + alice}, ""},
		{"another case", []string{"Bearer " + strings.ToUpper(alice)}, ""},
		{"beginning", []string{"Bearer " + alice[:len(alice)-1]}, ""},
		{"without padding", []string{"Bearer " + strings.TrimRight(bob, "=")}, ""},
		{"the hash", []string{"Bearer " + strings.TrimPrefix(hashed(carol), "sha256:")}, ""},
		{"the hash as in the file", []string{"Bearer " + hashed(carol)}, ""},
		{"not ASCII", []string{"Bearer älice-0123456789abcdefgh"}, ""},
		{"a word that is only in the file as a hash", []string{"Bearer " + word}, ""},
		{"nothing that is in the file as a hash", []string{"Bearer "}, ""},
		{"a megabyte", []string{"Bearer " + strings.Repeat("a", 1<<20)}, ""},
		{"a megabyte of spaces", []string{"Bearer " + strings.Repeat(" ", 1<<20)}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			grant, err := g.Authorize(streamRequest("/events", test.authorization...))
			if test.want == "" {
				if !errors.Is(err, ErrUnauthorized) || grant.allows("s-1") || grant.allows("") || grant.Valid() {
					t.Errorf("got %+v, %v; want a refusal and an empty grant", grant, err)
				}
				return
			}
			if err != nil || grant.Token != test.want || !grant.Valid() {
				t.Errorf("got %+v, %v; want a valid grant for %s", grant, err, test.want)
			}
		})
	}
}

func TestGrantAllows(t *testing.T) {
	g := newGate(t, Settings{TokensFile: tokensAt(t, file)})
	for _, test := range []struct {
		token, session string
		want           bool
	}{
		{alice, "s-1", true},
		{alice, "s-2", true},
		{alice, "", true},
		{bob, "s-1", true},
		{bob, "café %", true},
		{bob, "caf%C3%A9%20%25", false},
		{bob, "s-2", false},
		{bob, "S-1", false},
		{bob, "", false},
	} {
		grant, err := g.Authorize(streamRequest("/events", "Bearer "+test.token))
		if err != nil {
			t.Fatal(err)
		}
		if got := grant.allows(test.session); got != test.want {
			t.Errorf("%s and session %q: %v, want %v", grant.Token, test.session, got, test.want)
		}
	}
}

func TestGrantIsItsHoldersOwn(t *testing.T) {
	g := newGate(t, Settings{TokensFile: tokensAt(t, file)})
	first, _ := g.Authorize(streamRequest("/events", "Bearer "+bob))
	first.Sessions[0] = "s-2"
	second, err := g.Authorize(streamRequest("/events", "Bearer "+bob))
	if err != nil || second.allows("s-2") {
		t.Errorf("a holder who changed its grant changed the next one: %q, %v", second.Sessions, err)
	}
}

func TestAnonymous(t *testing.T) {
	readers := tokensAt(t, file)
	web := filepath.Join(t.TempDir(), "web.yml")
	write(t, web, "basic_auth_users: {joe: "+passwordHash+"}\n")
	for _, test := range []struct {
		name          string
		settings      Settings
		host          string
		authorization []string
		want          bool
	}{
		{"loopback", Settings{AnonymousLoopback: true}, "127.0.0.1:10478", nil, true},
		{"loopback of IPv6", Settings{AnonymousLoopback: true}, "[::1]:10478", nil, true},
		{"localhost", Settings{AnonymousLoopback: true}, "LocalHost", nil, true},
		{"a page's own name that leads here", Settings{AnonymousLoopback: true}, "rebound.example:10478", nil, false},
		{"a name that begins with localhost", Settings{AnonymousLoopback: true}, "localhost.example", nil, false},
		{"no host", Settings{AnonymousLoopback: true}, "", nil, false},
		{"anywhere", Settings{AnonymousAnywhere: true}, "stream.example", nil, true},
		{"the toolkit asks", Settings{AnonymousLoopback: true, WebConfigFile: web}, "stream.example", nil, true},
		{"another scheme", Settings{AnonymousLoopback: true}, "127.0.0.1", []string{"Basic YTpi"}, true},
		{"right token", Settings{AnonymousLoopback: true, TokensFile: readers}, "127.0.0.1", []string{"Bearer " + alice}, true},
		{"wrong token", Settings{AnonymousLoopback: true, TokensFile: readers}, "127.0.0.1", []string{"Bearer wrong"}, false},
		{"token where there are none", Settings{AnonymousLoopback: true}, "127.0.0.1", []string{"Bearer " + alice}, false},
		{"not said", Settings{}, "127.0.0.1", nil, false},
		{"tokens only", Settings{TokensFile: readers}, "127.0.0.1", nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := streamRequest("/events", test.authorization...)
			r.Host = test.host
			_, err := newGate(t, test.settings).Authorize(r)
			if got := err == nil; got != test.want {
				t.Errorf("granted: %v, want %v", got, test.want)
			}
		})
	}
}

func TestRefusalsLookTheSame(t *testing.T) {
	g := newGate(t, Settings{TokensFile: tokensAt(t, file)})
	known := map[string]bool{"s-1": true, "s-3": true}
	stream := func(w http.ResponseWriter, r *http.Request) {
		grant, err := g.Authorize(r)
		if err != nil || !grant.allows(r.PathValue("session")) || !known[r.PathValue("session")] {
			refuse(w)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /events/{session}", stream)
	mux.HandleFunc("POST /tickets", g.ServeTicket)

	var first *httptest.ResponseRecorder
	for _, r := range []*http.Request{
		streamRequest("/events/s-3"),
		streamRequest("/events/s-3", "Bearer "+bob),
		streamRequest("/events/unknown", "Bearer "+bob),
		streamRequest("/events/unknown", "Bearer "+alice),
		streamRequest("/events/s-3", "Bearer "+alice+"x"),
		streamRequest("/events/s-3?ticket=x"),
		httptest.NewRequest(http.MethodPost, "/tickets", nil),
	} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if first == nil {
			first = w
		}
		if w.Code != http.StatusUnauthorized || !bytes.Equal(w.Body.Bytes(), first.Body.Bytes()) {
			t.Errorf("%s: %d %q, want 401 and the text of all others", r.URL, w.Code, w.Body)
		}
		if challenge := w.Header().Get("WWW-Authenticate"); !strings.HasPrefix(challenge, "Bearer") {
			t.Errorf("%s: WWW-Authenticate is %q, want Bearer", r.URL, challenge)
		}
		if len(w.Header()) != len(first.Header()) {
			t.Errorf("%s: headers %v differ from %v", r.URL, w.Header(), first.Header())
		}
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, streamRequest("/events/s-1", "Bearer "+bob))
	if w.Code != http.StatusOK {
		t.Errorf("a known session of the token's: %d, want 200", w.Code)
	}
}
