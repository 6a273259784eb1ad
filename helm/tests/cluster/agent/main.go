// Command agent is the container of the test's agents. It streams what the test tells it to, and waits for its streams when it is
// stopped.
package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

const (
	frames = 3 // of a Job's stream

	// frame is an event of ADK with text. It is the last of a run if partial is false.
	frame = `data: {"author":"coordinator","invocationId":"e-1","content":{"role":"model","parts":[{"text":"%d"}]},"partial":%t}` + "\n\n"
)

func main() {
	stop, done := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer done()
	role := map[string]func(context.Context) error{
		"pause": func(ctx context.Context) error { <-ctx.Done(); return nil },
		"serve": serve,
		"job":   job,
	}[os.Args[1]]
	if err := role(stop); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// agent holds what the test wants its streams to send.
type agent struct {
	mu      sync.Mutex
	sent    []string
	over    bool
	stopped bool
	changed chan struct{} // closed at the next change
}

func (a *agent) change(to func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	to()
	close(a.changed)
	a.changed = make(chan struct{})
}

// serve answers /run_sse on loopback, and takes the test's orders on port 9000.
func serve(stop context.Context) error {
	a := &agent{changed: make(chan struct{})}
	orders := http.NewServeMux()
	orders.HandleFunc("POST /say", func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		a.change(func() { a.sent, a.over = append(a.sent, string(text)), false })
	})
	orders.HandleFunc("POST /over", func(http.ResponseWriter, *http.Request) { a.change(func() { a.over, a.sent = true, nil }) })
	orders.HandleFunc("POST /crash", func(http.ResponseWriter, *http.Request) { os.Exit(3) })
	orders.HandleFunc("GET /stopped", func(w http.ResponseWriter, _ *http.Request) {
		a.mu.Lock()
		defer a.mu.Unlock()
		_, _ = fmt.Fprint(w, a.stopped)
	})
	go func() { panic(http.ListenAndServe(":9000", orders)) }()

	listen := "127.0.0.1:8000"
	if len(os.Args) > 2 {
		listen = os.Args[2]
	}
	streams := http.NewServeMux()
	streams.HandleFunc("POST /run_sse", a.stream)
	streams.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	server := &http.Server{Addr: listen, Handler: streams}
	context.AfterFunc(stop, func() { a.change(func() { a.stopped = true }) })
	ended := make(chan error, 1)
	go func() { ended <- server.ListenAndServe() }()
	select {
	case err := <-ended:
		return err
	case <-stop.Done():
		return server.Shutdown(context.Background()) // waits for open streams
	}
}

// stream sends the frames that the test orders, until the test ends the stream.
func (a *agent) stream(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	_ = http.NewResponseController(w).Flush()
	for next := 0; ; {
		a.mu.Lock()
		texts, over, changed := a.sent[min(next, len(a.sent)):], a.over, a.changed
		a.mu.Unlock()
		for _, text := range texts {
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
		}
		if next += len(texts); over && len(texts) == 0 {
			return
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// job streams one run through the pod's own sidecar, as a batch job would, and fails if a byte of it is missing.
func job(stop context.Context) error {
	var want string
	for i := range frames {
		want += fmt.Sprintf(frame, i, i < frames-1)
	}
	go func() {
		panic(http.ListenAndServe("127.0.0.1:8000", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, want)
		})))
	}()
	ctx, cancel := context.WithTimeout(stop, time.Minute)
	defer cancel()
	for {
		got, err := run(ctx)
		if err == nil && got == want {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the last try: %q, %w; want %q", got, err, want)
		case <-time.After(100 * time.Millisecond): // this program's own server may not listen yet
		}
	}
}

func run(ctx context.Context) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1:8080/run_sse", nil)
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return string(got), err
}
