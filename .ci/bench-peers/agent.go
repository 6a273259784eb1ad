package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const request = `{"appName":"app","userId":"u","sessionId":"s","newMessage":{"role":"user","parts":[{"text":"x"}]}}`

// agent is a server that repeats one frame: a number of times at once, or once for each request of a talk.
type agent struct {
	frame []byte

	mu    sync.Mutex
	turns []chan struct{}
}

// newAgent returns an agent whose frame is a delta recorded from a real server.
func newAgent(root string) (*agent, error) {
	content, err := os.ReadFile(filepath.Join(root, "collector/dialect/adk/adkserver/testdata/captures/python/slow.stream.sse"))
	if err != nil {
		return nil, err
	}
	first, _, _ := bytes.Cut(content, []byte("\n\n"))
	return &agent{frame: append(first, "\n\n"...)}, nil
}

func (a *agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	if n, err := strconv.Atoi(r.FormValue("frames")); err == nil {
		for range n {
			_, _ = w.Write(a.frame)
			_ = out.Flush()
		}
		return
	}
	n, err := strconv.Atoi(r.FormValue("talk"))
	a.mu.Lock()
	if err != nil || n >= len(a.turns) {
		a.mu.Unlock()
		http.NotFound(w, r)
		return
	}
	turn := a.turns[n]
	a.mu.Unlock()
	_ = out.Flush()
	for range turn {
		_, _ = w.Write(a.frame)
		_ = out.Flush()
	}
}

// invite opens a talk.
func (a *agent) invite() (int, chan<- struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turns = append(a.turns, make(chan struct{}))
	return len(a.turns) - 1, a.turns[len(a.turns)-1]
}

// dismiss ends all talks.
func (a *agent) dismiss() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, turn := range a.turns {
		close(turn)
	}
	a.turns = nil
}

// talk is a stream whose frames are requested one by one.
type talk struct {
	turn chan<- struct{}
	body io.ReadCloser
	got  []byte
}

func ask(client *http.Client, address, query string) (*http.Response, error) {
	resp, err := client.Post("http://"+address+"/run_sse?"+query, "application/json", strings.NewReader(request))
	if err == nil && resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		err = fmt.Errorf("%s answers %s", address, resp.Status)
	}
	return resp, err
}

// converse opens talks through an address.
func (a *agent) converse(client *http.Client, address string, streams int) (talks []*talk, err error) {
	for range streams {
		n, turn := a.invite()
		resp, err := ask(client, address, fmt.Sprintf("talk=%d", n))
		if err != nil {
			return nil, err
		}
		talks = append(talks, &talk{turn, resp.Body, make([]byte, len(a.frame))})
	}
	return talks, nil
}

// exchange makes round trips on each stream. It returns their durations in nanoseconds, sorted.
func exchange(talks []*talk, trips int) (samples, error) {
	took := make(samples, trips*len(talks))
	failed := make(chan error, len(talks))
	var all sync.WaitGroup
	for i, t := range talks {
		all.Go(func() {
			for trip := range trips {
				begin := time.Now()
				t.turn <- struct{}{}
				if _, err := io.ReadFull(t.body, t.got); err != nil {
					failed <- err
					return
				}
				took[trips*i+trip] = float64(time.Since(begin))
			}
		})
	}
	all.Wait()
	slices.Sort(took)
	select {
	case err := <-failed:
		return nil, err
	default:
		return took, nil
	}
}

// flood makes the agent send a number of frames over a number of streams, as fast as they are read.
func (a *agent) flood(client *http.Client, address string, frames, streams int) error {
	want := int64(frames / streams * len(a.frame))
	failed := make(chan error, streams)
	var all sync.WaitGroup
	for range streams {
		all.Go(func() {
			resp, err := ask(client, address, fmt.Sprintf("frames=%d", frames/streams))
			if err != nil {
				failed <- err
				return
			}
			defer resp.Body.Close()
			if n, err := io.Copy(io.Discard, resp.Body); err != nil || n != want {
				failed <- fmt.Errorf("%d of %d bytes came: %w", n, want, err)
			}
		})
	}
	all.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}
