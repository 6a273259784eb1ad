package relay_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// overLimit is larger than a frame may be by default.
var overLimit = strings.Repeat("x", 9<<20)

// TestFilteredRelayOfCaptures sends every capture through the default relay: its client gets the same events with the same data.
func TestFilteredRelayOfCaptures(t *testing.T) {
	var capture []byte
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(capture)
	}))
	defer agent.Close()
	service := startSidecar(t, agent.URL)
	for _, folder := range recorded.ADKCaptures {
		for _, file := range recorded.Files(t, folder) {
			var err error
			if capture, err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
			got := harness.AskOK(t, service, []byte(`{}`))
			if want := harness.FrameData(t, capture); !slices.Equal(harness.FrameData(t, got), want) {
				t.Errorf("%s: the client got %d of %d frames", filepath.Base(file), len(harness.FrameData(t, got)), len(want))
			}
		}
	}
}

const adkFrame = `{"author":"coordinator","invocationId":"e-1","content":{"parts":[{"text":"hello"}]}}`

// TestFilteredRelay sends content from an agent, and from an application next to it, that a client must not get, or must get
// unchanged.
func TestFilteredRelay(t *testing.T) {
	for _, test := range []struct{ name, path, sent, want string }{
		{"an event", "/run_sse", "data: " + adkFrame + "\n\n", "data: " + adkFrame + "\n\n"},
		{"other framing", "/run_sse", "event: message\rdata:" + adkFrame + "\r\r", "data: " + adkFrame + "\n\n"},
		{"an internal event name", "/run_sse", "event: internal:llm-call\ndata: " + adkFrame + "\n\n", ""},
		{"an internal kind", "/run_sse", "data: " + strings.Replace(adkFrame, "{", `{"kind":"internal:x",`, 1) + "\n\n", ""},
		{"a kind at all", "/run_sse", "data: " + strings.Replace(adkFrame, "{", `{"KIND":"content",`, 1) + "\n\n", ""},
		{"no event", "/run_sse", "data: {\"secret\":1}\n\n", ""},
		{"a name twice", "/run_sse", "data: " + strings.Replace(adkFrame, "{", `{"author":"x",`, 1) + "\n\n", ""},
		{"a comment", "/run_sse", ": secret\n\n", ": \n\n"},
		{"an unknown field", "/run_sse", "secret: 1\ndata: " + adkFrame + "\n\n", "data: " + adkFrame + "\n\n"},
		{"an id", "/run_sse", "id: 7\ndata: " + adkFrame + "\n\n", "id: 7\ndata: " + adkFrame + "\n\n"},
		{"an id that cannot be sent back", "/run_sse", "id: a b\ndata: " + adkFrame + "\n\n", "data: " + adkFrame + "\n\n"},
		{"an id taken back", "/run_sse", "id: 7\ndata: " + adkFrame + "\n\nid\ndata: " + adkFrame + "\n\n", "id: 7\ndata: " + adkFrame + "\n\nid\n\ndata: " + adkFrame + "\n\n"},
		{"a retry", "/run_sse", "retry: 1500\ndata: " + adkFrame + "\n\n", "retry: 1500\n\ndata: " + adkFrame + "\n\n"},
		{"half an event", "/run_sse", "data: " + adkFrame[:len(adkFrame)-1], ""},
		{"an event without a blank line", "/run_sse", "data: " + adkFrame, "data: " + adkFrame + "\n"},
		{"an error frame", "/run_sse", "event: error\ndata: {\"error\":\"quota\"}\n\n", "event: error\ndata: {\"error\":\"quota\"}\n\n"},
		{"an error nobody can read", "/run_sse", "data: {\"error\": \"said \"secret\" and died\"}\n\n", "data: {\"error\":\"the run failed\"}\n\n"},
		{"an internal error nobody can read", "/run_sse", "event: internal:x\ndata: {\"error\": \"said \"secret\" and died\"}\n\n", "data: {\"error\":\"the run failed\"}\n\n"},
		{"an application's stream", "/news", ": hi\r\n\r\nevent: tick\r\ndata: {\"kind\":\"internal:x\"}\r\n\r\ndata: \xff\xfe\n\nid: 1\n\ndata: cut", ": hi\r\ndata: \xff\xfe\n\nid: 1\n\ndata: cut"},
		{"an agent's stream elsewhere", "/news", "event: tick\ndata: 1\n\nevent: internal:x\ndata: " + adkFrame + "\n\ndata: {\"kind\":\"internal:x\"}\n\n", "event: tick\ndata: 1\n\n"},
		{"an internal block without its end", "/news", "data: 1\n\nevent: internal:x\ndata: CANARY", "data: 1\n\n"},
		{"an internal object without its end", "/news", "data: 1\n\ndata: {\"x\":1,\"kind\":\"Internal:x\"}", "data: 1\n\n"},
		{"an internal block over the limit", "/news", "event: internal:x\ndata: " + overLimit + "\n\ndata: 2\n\n", "data: 2\n\n"},
		{"a block over the limit", "/news", "event: x\ndata: " + overLimit + "\n\ndata: 2\n\n", "event: x\ndata: " + overLimit + "\n\ndata: 2\n\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, test.sent)
			}))
			defer agent.Close()
			service := startSidecar(t, agent.URL)
			resp, err := http.Post(service.Address()+test.path, "application/json", strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			if err != nil || string(got) != test.want {
				t.Errorf("the client got %d bytes, %.300q, %v\nwant %d bytes, %.300q", len(got), got, err, len(test.want), test.want)
			}
		})
	}
}

// TestFilteredRelayOfContentTypes sends media types of a stream that only a lenient client accepts.
func TestFilteredRelayOfContentTypes(t *testing.T) {
	for _, media := range []string{"Text/Event-Stream", "text/plain, text/event-stream", "text/event-stream,", "text/event-stream; charset=x",
		"text/event-stream charset=utf-8", `"text/event-stream"`, "text/event-stream+json", "text/plain; text/event-stream"} {
		agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", media)
			_, _ = io.WriteString(w, "event: internal:x\ndata: "+adkFrame+"\n\n")
		}))
		if got := harness.AskOK(t, startSidecar(t, agent.URL), []byte(`{}`)); len(got) > 0 {
			t.Errorf("%s: the client got %q", media, got)
		}
		agent.Close()
	}
}

// TestBinaryEvents checks that AG-UI's binary transport is refused by name on every path.
func TestBinaryEvents(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "Application/vnd.AG-UI.event+proto; v=1")
		_, _ = io.WriteString(w, "\x00\x00\x00\x03abc")
	}))
	defer agent.Close()
	for _, path := range []string{"/agui", "/elsewhere"} {
		resp, err := http.Post(startSidecar(t, agent.URL).Address()+path, "application/json", strings.NewReader(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		said, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusBadGateway || !strings.Contains(string(said), "application/vnd.ag-ui.event+proto") {
			t.Errorf("%s: %s, %q, %v", path, resp.Status, said, err)
		}
	}
}

// TestFilteredRelayOfEncodings sends compressed streams.
func TestFilteredRelayOfEncodings(t *testing.T) {
	for _, test := range []struct {
		encoding, path, asked string
		status                int
	}{
		{"gzip", "/run_sse", "identity", 200}, {"br", "/run_sse", "identity", 502}, {"br", "/news", "br, gzip", 502}, {"gzip", "/news", "br, gzip", 200},
	} {
		t.Run(fmt.Sprint(test.encoding, test.path), func(t *testing.T) {
			var asked string
			agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = r.Header.Get("Accept-Encoding")
				w.Header().Set("Content-Type", "text/event-stream")
				w.Header().Set("Content-Encoding", test.encoding)
				zipped := gzip.NewWriter(w) // any bytes will do for other encodings
				_, _ = io.WriteString(zipped, "data: "+adkFrame+"\n\n")
				_ = zipped.Close()
			}))
			defer agent.Close()
			service := startSidecar(t, agent.URL)
			req, _ := http.NewRequest(http.MethodPost, service.Address()+test.path, strings.NewReader("{}"))
			req.Header.Set("Accept-Encoding", "br, gzip")
			resp, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != test.status || asked != test.asked {
				t.Fatalf("%d, %v, asked for %q: %q", resp.StatusCode, err, asked, got)
			}
			if test.encoding == "gzip" && string(got) != "data: "+adkFrame+"\n\n" {
				t.Errorf("got %q", got)
			}
			if test.status == 502 && !strings.Contains(string(got), "configure the agent to send gzip or no encoding") {
				t.Errorf("says %q", got)
			}
		})
	}
}

// TestFilteredRelayOfSpellings requests run paths in spellings that only some servers accept, and checks that the filter fails
// closed.
func TestFilteredRelayOfSpellings(t *testing.T) {
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"kind\":\"internal:x\"}\n\ndata: "+adkFrame+"\n\n")
	}))
	defer agent.Close()
	service := startSidecar(t, agent.URL)
	for _, path := range []string{
		"/run_sse", "/RUN_SSE", "/run_sse/", "//run_sse", "/run_sse//", "/x/../run_sse", "/./run_sse", "/run_sse;a=b", "/run_sse%2F", "/run_sse%0a", "/run_sse%20", "/%72un_sse", "/run_sse%23f", "/api/Run_SSE", "/\\run_sse",
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(service.Address(), "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}", path)
		got, err := io.ReadAll(conn)
		conn.Close()
		if err != nil || bytes.Contains(got, []byte("internal:x")) || !bytes.Contains(got, []byte("coordinator")) {
			t.Errorf("%s: %v, %q", path, err, got)
		}
	}
}
