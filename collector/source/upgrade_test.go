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

// echo returns an agent that switches protocols with the given answer and then echoes.
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

// upgrade requests a protocol and returns the answer and the connection.
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

// TestUpgrades checks that connections switch protocols, even if the answer claims to be an event stream, and are not observed.
func TestUpgrades(t *testing.T) { eachRelay(t, testUpgrades) }

func testUpgrades(t *testing.T, newFilter func() source.Filter) {
	for name, types := range map[string]string{
		"a websocket": "", "an event stream": "Content-Type: text/event-stream\r\n", "a binary stream": "Content-Type: application/vnd.ag-ui.event+proto\r\n",
	} {
		for _, path := range []string{"/run_sse", "/other"} {
			t.Run(name+" at "+path, func(t *testing.T) {
				s := &proxyRecorder{}
				address, wait := startFiltered(t, s, echo(t, "Upgrade: websocket\r\n"+types), 0, newFilter)
				resp, conn, read := upgrade(t, address, path, "websocket")
				if resp.StatusCode != http.StatusSwitchingProtocols {
					t.Fatal(resp.Status)
				}
				heard := make([]byte, 5)
				_, _ = io.WriteString(conn, "hello")
				if _, err := io.ReadFull(read, heard); err != nil || string(heard) != "hello" {
					t.Errorf("the echo is %q, %v", heard, err)
				}
				conn.Close()
				wait()
				if len(s.streams) != 0 || s.down != 0 {
					t.Errorf("the observed streams are %v, and the agent is counted as unreachable %d times", s.streams, s.down)
				}
			})
		}
	}
}

// TestStopClosesUpgrades checks that Stop closes connections that have switched protocols.
func TestStopClosesUpgrades(t *testing.T) { eachRelay(t, testStopClosesUpgrades) }

func testStopClosesUpgrades(t *testing.T, newFilter func() source.Filter) {
	agent := front(t, nil, echo(t, "Upgrade: websocket\r\n"))
	p := newProxy(t, &proxyRecorder{}, agent, source.ProxySettings{NewFilter: newFilter})
	_, _, read := upgrade(t, front(t, p, p), "/run_sse", "websocket")
	p.Stop()
	if rest, err := io.ReadAll(read); len(rest) > 0 {
		t.Errorf("after Stop, the client gets %q, %v", rest, err)
	}
	p.Wait()
}

// TestUnrequestedUpgrades checks that a switch to a protocol that the client did not request is rejected.
func TestUnrequestedUpgrades(t *testing.T) { eachRelay(t, testUnrequestedUpgrades) }

func testUnrequestedUpgrades(t *testing.T, newFilter func() source.Filter) {
	s := &proxyRecorder{}
	address, wait := startFiltered(t, s, echo(t, "Upgrade: h2c\r\nContent-Type: text/event-stream\r\n"), 0, newFilter)
	resp, _, _ := upgrade(t, address, "/run_sse", "websocket")
	body, _ := io.ReadAll(resp.Body)
	wait()
	if resp.StatusCode != http.StatusBadGateway || !strings.Contains(string(body), "did not ask for") || s.down != 0 || len(s.streams) != 0 {
		t.Errorf("the client gets %s %q; the agent is counted as unreachable %d times, and the streams are %v", resp.Status, body, s.down, s.streams)
	}
}

// TestHTTP2IsNotOffered checks that the agent gets no offer to switch to HTTP/2. After a switch its streams would pass
// unfiltered.
func TestHTTP2IsNotOffered(t *testing.T) {
	for offer, want := range map[string]string{"h2c": "no upgrade", "websocket, H2C": "no upgrade", "HTTP/2.0": "no upgrade"} {
		s := &proxyRecorder{}
		address, _ := startFiltered(t, s, echo(t, ""), 0, func() source.Filter { return passValid{} })
		resp, _, _ := upgrade(t, address, "/run_sse", offer)
		if body, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK || string(body) != want {
			t.Errorf("after the offer %s, the client gets %s %q", offer, resp.Status, body)
		}
	}
}
