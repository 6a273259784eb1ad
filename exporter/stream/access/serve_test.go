package access

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is an in-memory listener for tests with a fake clock.
type pipes struct {
	dialled chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func newPipes() *pipes { return &pipes{dialled: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.dialled:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

func (p *pipes) dial() net.Conn {
	here, there := net.Pipe()
	p.dialled <- there
	return here
}

// runningServer is a running server under test.
type runningServer struct {
	stop func() error // shuts the server down and waits
	log  *strings.Builder
}

func serve(t *testing.T, l net.Listener, h http.Handler, webConfigFile string, shutdown Shutdown) runningServer {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	s := runningServer{log: &strings.Builder{}}
	logger := slog.New(slog.NewTextHandler(s.log, nil))
	go func() { done <- Serve(ctx, l, h, webConfigFile, shutdown, logger) }()
	s.stop = sync.OnceValue(func() error { cancel(); return <-done })
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Errorf("serving ended with %v", err)
		}
	})
	return s
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// clientOf returns a client that trusts the authority and presents the certificates.
func clientOf(t *testing.T, a authority, shown ...tls.Certificate) *http.Client {
	transport := &http.Transport{
		TLSClientConfig:   &tls.Config{RootCAs: a.pool, Certificates: shown},
		ForceAttemptHTTP2: true,
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// whoReads answers with the token name of the grant, in quotes.
func whoReads(g *Authorizer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /tickets", g.ServeTicket)
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, r *http.Request) {
		grant, err := g.Authorize(r)
		if err != nil {
			refuse(w)
			return
		}
		fmt.Fprintf(w, "%q", grant.Token)
	})
	return mux
}

func ask(client *http.Client, url, user, password, bearer string) string {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err.Error()
	}
	if user != "" {
		r.SetBasicAuth(user, password)
	}
	if bearer != "" {
		r.Header.Set("Authorization", "Bearer "+bearer)
	}
	answer, err := client.Do(r)
	if err != nil {
		return "no answer"
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	if answer.StatusCode != http.StatusOK {
		return answer.Status
	}
	return string(body)
}

// TestHostileHeadersOnTheWire checks the status for unusual and hostile headers on a real connection.
func TestHostileHeadersOnTheWire(t *testing.T) {
	l := listen(t)
	s := serve(t, l, whoReads(newGate(t, Settings{TokensFile: tokensAt(t, file)})), "", Shutdown{Grace: time.Minute})
	for _, test := range []struct{ name, header, want string }{
		{"right", "Authorization: Bearer " + alice, "200"},
		{"spaces around", "Authorization:  \t Bearer " + alice + " \t ", "200"},
		{"name in capitals", "AUTHORIZATION: bearer " + alice, "200"},
		{"two", "Authorization: Bearer " + alice + "\r\nauthorization: Bearer " + alice, "401"},
		{"NUL", "Authorization: Bearer " + alice + "\x00", "400"},
		{"folded", "Authorization: Bearer\r\n " + alice, "200"}, // net/http joins obsolete folding by a space, as RFC 9112 section 5.2 has it
		{"space before the colon", "Authorization : Bearer " + alice, "400"},
		{"a megabyte", "Authorization: Bearer " + strings.Repeat("a", 1<<20), "431"},
		{"just too large", "X: " + strings.Repeat("a", maxHeaderBytes+4096), "431"},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			// The server may answer and close before it has read everything.
			go fmt.Fprintf(conn, "GET /events HTTP/1.1\r\nHost: h\r\nConnection: close\r\n%s\r\n\r\n", test.header)
			status, err := bufio.NewReader(conn).ReadString('\n')
			if len(status) < 12 || status[9:12] != test.want {
				t.Errorf("answers %q, %v; want %s", status, err, test.want)
			}
		})
	}
	if err := s.stop(); err != nil || strings.Contains(s.log.String(), alice) {
		t.Errorf("%v; the log is %q", err, s.log)
	}
}

// TestSlowClients checks that slow clients are disconnected. Without timeouts the test would deadlock.
func TestSlowClients(t *testing.T) {
	for _, test := range []struct {
		name, sent string
		want       string // the beginning of the answer before the connection is closed
		after      time.Duration
	}{
		{"nothing", "", "", headerTimeout},
		{"half a header", "GET /events HTTP/1.1\r\nHost: h\r\nAuthoriz", "", headerTimeout},
		{"no body", "POST /tickets HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n", "HTTP/1.1 401 ", bodyTimeout},
		{"half a body", "POST /tickets HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12", "HTTP/1.1 401 ", bodyTimeout},
		{"idle", "POST /tickets HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 401 ", idleTimeout},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := tokensAt(t, file)
			synctest.Test(t, func(t *testing.T) {
				p := newPipes()
				serve(t, p, whoReads(newGate(t, Settings{TokensFile: path})), "", Shutdown{Grace: time.Minute})
				conn := p.dial()
				defer conn.Close()
				start := time.Now()
				if _, err := io.WriteString(conn, test.sent); err != nil {
					t.Fatal(err)
				}
				answer, err := io.ReadAll(conn)
				if err != nil || !strings.HasPrefix(string(answer), test.want) || test.want == "" && strings.HasPrefix(string(answer), "HTTP/1.1 2") {
					t.Errorf("answers %q, %v; want %q", answer, err, test.want)
				}
				if waited := time.Since(start); waited != test.after {
					t.Errorf("the connection ended after %s, want %s", waited, test.after)
				}
			})
		})
	}
}

// TestStuckHTTP2 checks that an HTTP/2 connection is closed if its subscriber stops reading.
func TestStuckHTTP2(t *testing.T) {
	a := newAuthority(t)
	config := a.webConfigWith(t, "}")
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		ended := make(chan error, 1)
		serve(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, err := w.Write(make([]byte, 1<<20))
			ended <- err
		}), config, Shutdown{Grace: time.Minute})
		pipe := p.dial()
		defer pipe.Close()
		// The certificate's validity uses the real time, not the fake clock; trust is not tested here.
		conn := tls.Client(pipe, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		if err := conn.Handshake(); err != nil {
			t.Fatal(err)
		}
		go func() {
			// RFC 9113: the preface, empty SETTINGS, and HEADERS that end stream 1: GET https://h/ by the static table.
			io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"+
				"\x00\x00\x00\x04\x00\x00\x00\x00\x00"+
				"\x00\x00\x06\x01\x05\x00\x00\x00\x01"+"\x82\x87\x84\x41\x01h")
		}()
		if _, err := io.ReadFull(conn, make([]byte, 9)); err != nil { // of the server's SETTINGS
			t.Fatal(err)
		}
		if err := <-ended; err == nil {
			t.Error("wrote a megabyte to a subscriber that reads nothing")
		}
	})
}

func TestShutdownDrainsFirst(t *testing.T) {
	l := listen(t)
	draining, opened := make(chan struct{}), make(chan struct{})
	var accepting string
	drain := func(within context.Context) {
		if _, limited := within.Deadline(); !limited || within.Err() != nil {
			t.Errorf("draining has no time: %v", within.Err())
		}
		accepting = ask(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, "http://"+l.Addr().String()+"/late", "", "", "")
		close(draining)
	}
	s := serve(t, l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/late" {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		http.NewResponseController(w).Flush()
		close(opened)
		select {
		case <-draining:
			io.WriteString(w, "retry: 1000\n\n")
		case <-r.Context().Done():
		}
	}), "", Shutdown{Drain: drain, Grace: time.Minute})
	read := make(chan string)
	go func() {
		read <- ask(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}, "http://"+l.Addr().String(), "", "", "")
	}()
	<-opened
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "retry: 1000\n\n" {
		t.Errorf("a stream ended with %q, want its last words", got)
	}
	if accepting != "503 Service Unavailable" {
		t.Errorf("while draining a late request got %q, want the handler's answer", accepting)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the listener is still open")
	}
}

func TestShutdownCutsWhatDoesNotDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPipes()
		ended := make(chan error, 1)
		s := serve(t, p, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			http.NewResponseController(w).Flush()
			<-r.Context().Done()
			ended <- r.Context().Err()
		}), "", Shutdown{Grace: 10 * time.Second})
		conn := p.dial()
		defer conn.Close()
		io.WriteString(conn, "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
		if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("cut after %s, want the grace period", took)
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the stream's context ended with %v", err)
		}
	})
}

func TestServeReturnsWhatItCannotDo(t *testing.T) {
	l := listen(t)
	err := Serve(t.Context(), l, http.NotFoundHandler(), "no-such-web.yml", Shutdown{}, slog.New(slog.DiscardHandler))
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("serves with %v, want that there is no such file", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the listener is left open: %v", err)
	}
	closed := listen(t)
	closed.Close()
	if err := Serve(t.Context(), closed, http.NotFoundHandler(), "", Shutdown{}, slog.New(slog.DiscardHandler)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a closed listener is served with %v", err)
	}
}

func TestBrokenHandshakeIsNotLogged(t *testing.T) {
	a, others := newAuthority(t), newAuthority(t)
	config := a.webConfigWith(t, ", client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem}")
	l := listen(t)
	s := serve(t, l, http.NotFoundHandler(), config, Shutdown{Grace: time.Minute})
	another := others.issue(t, "mallory", nil)
	shows := func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &another, nil }
	conn, err := tls.Dial("tcp", l.Addr().String(), &tls.Config{RootCAs: a.pool, GetClientCertificate: shows})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("another authority's certificate is taken")
	}
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if log := s.log.String(); strings.Contains(log, "handshake") || strings.Contains(log, "mallory") {
		t.Errorf("the log is %s", log)
	}
}
