//go:build unix

package stream

import (
	"context"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"

	gosse "github.com/tmaxmax/go-sse"
)

// flushes counts the messages that a library's server has sent. The server flushes after each message.
type flushes struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (f flushes) FlushError() error {
	f.n.Add(1)
	return http.NewResponseController(f.ResponseWriter).Flush()
}

// library publishes frames with a widely used Go library.
func library(b *testing.B, subscribers int) func(int) {
	var sent atomic.Int64
	provider := &gosse.Joe{}
	events := &gosse.Server{Provider: provider, OnSession: func(w http.ResponseWriter, _ *http.Request) ([]string, bool) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, ":\n\n") // tells the sink that the stream has begun
		_ = http.NewResponseController(w).Flush()
		return []string{gosse.DefaultTopic}, true
	}}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		events.ServeHTTP(flushes{w, &sent}, r)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it logs each subscriber that leaves, in the middle of the results
	server.Start()
	b.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	startSink(b, server.Listener.Addr().String(), subscribers)
	// Shut down the provider before the subscribers leave: it panics when it writes to a subscriber that has left.
	b.Cleanup(func() { _ = provider.Shutdown(context.WithoutCancel(b.Context())) })
	data, n := corpus(), 0
	deliver := func(frames int) {
		sent.Store(0)
		for range frames {
			message := &gosse.Message{ID: gosse.ID("0123456789abcdef-" + strconv.Itoa(n))}
			message.AppendData(string(data[n%len(data)]))
			n++
			if err := provider.Publish(message, []string{gosse.DefaultTopic}); err != nil {
				b.Fatal(err)
			}
		}
		for sent.Load() < int64(frames*subscribers) {
			runtime.Gosched()
		}
	}
	deliver(2) // the first message is flushed twice and counts as two
	return deliver
}
