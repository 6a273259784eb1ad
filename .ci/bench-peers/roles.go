package main

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	r3labs "github.com/r3labs/sse/v2"
	gosse "github.com/tmaxmax/go-sse"

	"github.com/delegraph/delegraph/exporter/stream"
	"github.com/delegraph/delegraph/exporter/stream/access"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// actAs runs the role of a process that process.as has started.
func actAs(role string, arguments []string) error {
	switch role {
	case "subscribers":
		n, err := strconv.Atoi(arguments[2])
		if err != nil {
			return err
		}
		return subscribers(arguments[0], arguments[1], n)
	case "proxy":
		return plainProxy(arguments[0], arguments[1])
	}
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var publish func(id int, data []byte) error
	switch role {
	case "ours":
		publish, err = ours(listener)
	case "go-sse":
		publish, err = goSSE(listener)
	case "r3labs":
		publish, err = r3labsSSE(listener)
	default:
		return fmt.Errorf("no role %q", role)
	}
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	return obey(publish)
}

// obey publishes the number of frames that each input line gives. If "last" follows, the last frame is marked.
func obey(publish func(int, []byte) error) error {
	data, n := corpus(), 0
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		if lines.Text() == "free" {
			debug.FreeOSMemory()
			fmt.Println("freed")
			continue
		}
		var frames int
		var last string
		if _, err := fmt.Sscan(lines.Text()+" .", &frames, &last); err != nil {
			return err
		}
		for i := range frames {
			frame := data[n%len(data)]
			if i == frames-1 && last == "last" {
				frame = marked(frame)
			}
			n++
			if err := publish(n, frame); err != nil {
				return err
			}
		}
		fmt.Println("published")
	}
	return nil
}

// plainProxy is the obvious reverse proxy in Go, with full duplex, without which it sometimes breaks streams.
func plainProxy(address, upstream string) error {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy, transport.DisableCompression, transport.MaxIdleConnsPerHost = nil, true, 100
	target := &url.URL{Scheme: "http", Host: upstream}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: transport, FlushInterval: -1}
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).EnableFullDuplex()
		proxy.ServeHTTP(w, r)
	}))
}

// ours serves the external stream as the sidecar does.
func ours(l net.Listener) (func(int, []byte) error, error) {
	hub, err := stream.New(stream.Settings{
		Replay:         replay.Settings{Frames: 10_000, Bytes: 64 << 20, Age: 5 * time.Minute},
		Observer:       quiet{},
		MaxSubscribers: 10_000, MaxSubscribersPerToken: 10,
		Heartbeat:     time.Hour, // heartbeats would count as publishing
		WriteDeadline: 5 * time.Second, MaxLifetime: time.Hour, RecheckInterval: time.Minute,
	})
	if err != nil {
		return nil, err
	}
	go func() {
		_ = access.Serve(context.Background(), l, hub.Handler(), "", access.Shutdown{}, slog.New(slog.DiscardHandler))
	}()
	return func(_ int, data []byte) error {
		hub.Store().Publish(replay.Entry{Source: "s", Run: "r", Session: "c", Data: data})
		return nil
	}, nil
}

// quiet counts nothing.
type quiet struct{}

func (quiet) SetSubscribers(int)                                  {}
func (quiet) CountSent(int)                                       {}
func (quiet) CountDropped(replay.Drop)                            {}
func (quiet) CountDisconnect(stream.Disconnect)                   {}
func (quiet) CountRefusal(stream.Refusal, stream.RefusalResponse) {}
func (quiet) CountResume(stream.ResumeOutcome)                    {}

const idPrefix = "0123456789abcdef-" // ids as long as ours

func goSSE(l net.Listener) (func(int, []byte) error, error) {
	provider := &gosse.Joe{}
	server := &gosse.Server{Provider: provider, OnSession: func(w http.ResponseWriter, _ *http.Request) ([]string, bool) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(":\n\n")) // the client waits for the first bytes
		_ = http.NewResponseController(w).Flush()
		return []string{gosse.DefaultTopic}, true
	}}
	go func() { _ = http.Serve(l, server) }()
	return func(id int, data []byte) error {
		message := &gosse.Message{ID: gosse.ID(idPrefix + strconv.Itoa(id))}
		message.AppendData(string(data))
		return provider.Publish(message, []string{gosse.DefaultTopic})
	}, nil
}

func r3labsSSE(l net.Listener) (func(int, []byte) error, error) {
	server := r3labs.New()
	server.AutoReplay = false // it would keep every frame forever
	server.CreateStream("all")
	go func() { _ = http.Serve(l, server) }()
	return func(id int, data []byte) error {
		server.Publish("all", &r3labs.Event{ID: []byte(idPrefix + strconv.Itoa(id)), Data: data})
		return nil
	}, nil
}
