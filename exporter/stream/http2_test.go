package stream

import (
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// TestIdleOverHTTP2 checks that a stream without frames stays open over HTTP/2. A write deadline that passes would
// reset the stream.
func TestIdleOverHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, false, nil)
		http2 := new(http.Protocols)
		http2.SetUnencryptedHTTP2(true)
		transport := &http.Transport{Protocols: http2, DialContext: func(context.Context, string, string) (net.Conn, error) {
			ours, theirs := net.Pipe()
			s.dialed <- theirs
			return ours, nil
		}}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://stream/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		read := make(chan string)
		go func() {
			body, err := io.ReadAll(response.Body)
			read <- string(body)
			if err == nil {
				t.Error("the stream ended")
			}
		}()
		time.Sleep(20 * time.Second) // longer than the write deadline and the heartbeat interval
		s.hub.store.Publish(say("hi"))
		s.settle()
		_ = response.Body.Close()
		transport.CloseIdleConnections()
		if body := <-read; body != "id: e-0\n: open\n\n: \n\nid: e-1\ndata: hi\n\n" {
			t.Errorf("read %q over HTTP/%d, want a heartbeat and the frame", body, response.ProtoMajor)
		}
		s.stop()
	})
}
