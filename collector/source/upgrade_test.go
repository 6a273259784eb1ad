package source_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/source"
)

// echo is an agent that switches protocols in a way of its own and sends back what it gets.
func echo(t *testing.T, answer string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") == "" && answer == "" {
			_, _ = io.WriteString(w, "no upgrade")
			return
		}
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"+answer+"\r\n")
		_, _ = io.Copy(conn, buffered)
	})
}

// upgrade asks for a protocol and returns the answer and the connection.
func upgrade(t *testing.T, address, path, protocol string) (*http.Response, net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_, _ = io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: "+protocol+"\r\n\r\n")
	read := bufio.NewReader(conn)
	resp, err := http.ReadResponse(read, nil)
	if err != nil {
		t.Fatal(err)
	}
	return resp, conn, read
}

// TestUpgrades passes connections that switch protocols, also those whose answer claims to be an event stream. They are no runs.
func TestUpgrades(t *testing.T) { eachRelay(t, testUpgrades) }

func testUpgrades(t *testing.T, judge func() source.Judge) {
	for name, types := range map[string]string{
		"a websocket": "", "an event stream": "Content-Type: text/event-stream\r\n", "a binary one": "Content-Type: application/vnd.ag-ui.event+proto\r\n",
	} {
		for _, path := range []string{"/run_sse", "/other"} {
			t.Run(name+" at "+path, func(t *testing.T) {
				s := &seen{}
				address, wait := startJudged(t, s, echo(t, "Upgrade: websocket\r\n"+types), 0, judge)
				resp, conn, read := upgrade(t, address, path, "websocket")
				if resp.StatusCode != http.StatusSwitchingProtocols {
					t.Fatal(resp.Status)
				}
				heard := make([]byte, 5)
				_, _ = io.WriteString(conn, "hello")
				if _, err := io.ReadFull(read, heard); err != nil || string(heard) != "hello" {
					t.Errorf("%q, %v", heard, err)
				}
				conn.Close()
				wait()
				if len(s.streams) != 0 || s.down != 0 {
					t.Errorf("streams %v, down %d", s.streams, s.down)
				}
			})
		}
	}
}

// TestStopClosesUpgrades has a proxy stop while a connection is open that nobody else would close.
func TestStopClosesUpgrades(t *testing.T) { eachRelay(t, testStopClosesUpgrades) }

func testStopClosesUpgrades(t *testing.T, judge func() source.Judge) {
	agent := front(t, nil, echo(t, "Upgrade: websocket\r\n"))
	p := newProxy(t, &seen{}, agent, source.ProxySettings{Judge: judge})
	_, _, read := upgrade(t, front(t, p, p), "/run_sse", "websocket")
	p.Stop()
	if rest, err := io.ReadAll(read); len(rest) > 0 {
		t.Errorf("after the stop: %q, %v", rest, err)
	}
	p.Wait()
}

// TestUnaskedUpgrades has an agent switch to a protocol that its client did not name.
func TestUnaskedUpgrades(t *testing.T) { eachRelay(t, testUnaskedUpgrades) }

func testUnaskedUpgrades(t *testing.T, judge func() source.Judge) {
	s := &seen{}
	address, wait := startJudged(t, s, echo(t, "Upgrade: h2c\r\nContent-Type: text/event-stream\r\n"), 0, judge)
	resp, _, _ := upgrade(t, address, "/run_sse", "websocket")
	said, _ := io.ReadAll(resp.Body)
	wait()
	if resp.StatusCode != http.StatusBadGateway || !strings.Contains(string(said), "did not ask for") || s.down != 0 || len(s.streams) != 0 {
		t.Errorf("%s %q, down %d, streams %v", resp.Status, said, s.down, s.streams)
	}
}

// TestHTTP2IsNotOffered keeps an agent from switching to HTTP/2, in which nobody here could read its streams.
func TestHTTP2IsNotOffered(t *testing.T) {
	for offer, want := range map[string]string{"h2c": "no upgrade", "websocket, H2C": "no upgrade", "HTTP/2.0": "no upgrade"} {
		s := &seen{}
		address, _ := startJudged(t, s, echo(t, ""), 0, func() source.Judge { return clement{} })
		resp, _, _ := upgrade(t, address, "/run_sse", offer)
		if said, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK || string(said) != want {
			t.Errorf("%s: %s %q", offer, resp.Status, said)
		}
	}
}
