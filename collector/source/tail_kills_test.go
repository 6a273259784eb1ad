package source

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

var kills = flag.Int("kills", 300, "how often TestKills kills each agent")

// killedAgent is an agent that is killed at a random byte of each answer, including its header, and restarted with the same frames.
type killedAgent struct {
	random  *rand.Rand
	restart bool // ids start at 1 again in each turn
	again   int  // the maximum number of frames before the requested one that are sent again
	lives   int

	all    []string // the frames
	ids    []string // the ids of the frames
	turns  int
	barren int // answers without a whole frame
	resent int // whole frames that were sent again
	sent   int // frames of all that were sent completely at least once
}

// addTurn adds the frames of another turn, as Looopy's servers send them: one run with one call and one response.
func (m *killedAgent) addTurn() {
	m.turns++
	task := fmt.Sprint("t", m.turns)
	add := func(kind, members string) {
		n := len(m.all) + 1
		if m.restart && len(m.ids) > 0 && kind != "task-created" {
			_, _ = fmt.Sscanf(m.ids[len(m.ids)-1], "ctx-%d", &n)
			n++
		} else if m.restart {
			n = 1
		}
		m.ids = append(m.ids, fmt.Sprint("ctx-", n))
		m.all = append(m.all, fmt.Sprintf("id: ctx-%d\nevent: %s\ndata: {\"taskId\":%q%s}\n\n", n, kind, task, members))
	}
	add("task-created", `,"initiator":"user"`)
	add("tool-start", `,"toolCallId":"c1","toolName":"look","arguments":{"q":"`+strings.Repeat("é", m.random.IntN(80))+`"}`)
	for range m.random.IntN(4) {
		add("tool-progress", `,"toolCallId":"c1","progress":0.5`) // the same data with another id
	}
	add("tool-complete", `,"toolCallId":"c1","toolName":"look","success":true`)
	for range m.random.IntN(9) {
		add("content-delta", `,"delta":"la"`)
	}
	add("content-complete", `,"content":"la","finishReason":"stop"`)
	add("llm-usage", `,"model":"m","prompt_tokens":7,"completion_tokens":3`)
	add("task-complete", `,"content":"la"`)
}

// after returns the index of the frame after the last one that was sent with an id. Without an id, it returns that of the first frame.
func (m *killedAgent) after(t *testing.T, id string) int {
	if id == "" {
		return 0
	}
	for i := m.sent - 1; i >= 0; i-- {
		if m.ids[i] == id {
			return i + 1
		}
	}
	t.Errorf("the tail reconnects with the id %q, which was never sent", id)
	return 0
}

// answer returns a handler that interrupts each answer at a random byte.
func (m *killedAgent) answer(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		next := m.after(t, r.Header.Get("Last-Event-ID"))
		for len(m.all) < next+3 && m.lives > 0 {
			m.addTurn()
		}
		if next == len(m.all) {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		from := max(next-m.random.IntN(m.again+1), 0)
		to := min(next+6, len(m.all))
		head, chunked := "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n", m.random.IntN(2) == 0
		if chunked {
			head += "Transfer-Encoding: chunked\r\n"
		}
		answer := head + "\r\n"
		ends := make([]int, 0, to-from) // offset of the end of each frame in the answer
		for _, frame := range m.all[from:to] {
			if chunked {
				answer += fmt.Sprintf("%x\r\n", len(frame))
			}
			answer += frame
			ends = append(ends, len(answer))
			if chunked {
				answer += "\r\n"
			}
		}
		if m.lives > 0 {
			m.lives--
			answer = answer[:m.random.IntN(len(answer))]
		}
		whole := 0
		for whole < len(ends) && ends[whole] <= len(answer) {
			whole++
		}
		if whole == 0 {
			m.barren++
		}
		m.resent += max(min(from+whole, m.sent)-from, 0)
		m.sent = max(m.sent, from+whole)
		raw(answer)(w, r)
	}
}

// runCounter is a sink that counts the tracker's runs and operations.
type runCounter struct {
	*tailRecorder
	*tracker.Tracker
	runs, calls, responses, incomplete int
	usage                              event.Usage
}

func (c *runCounter) Open(s *event.Stream)                               { c.Tracker.Open(s) }
func (c *runCounter) Close(s *event.Stream, end event.End, at time.Time) { c.Tracker.Close(s, end, at) }
func (c *runCounter) Consume(b *event.Batch)                             { c.tailRecorder.Consume(b); c.Tracker.Consume(b) }
func (c *runCounter) RunStarted(*tracker.Run)                            {}
func (c *runCounter) CountEvicted(string)                                { panic("evicted") }
func (c *runCounter) CountExpired(string)                                { panic("expired") }
func (c *runCounter) CountLateFrame(string)                              { panic("late") }
func (c *runCounter) OperationEnded(_ *tracker.Run, op *tracker.Operation) {
	switch op.Kind {
	case tracker.ExecuteTool:
		c.calls++
	case tracker.Chat:
		c.responses++
	}
}

func (c *runCounter) RunEnded(r *tracker.Run) {
	c.runs++
	if r.Status != tracker.Completed {
		c.incomplete++
	}
	c.usage = c.usage.Add(r.Usage)
}

// TestKills checks that no frame, run or operation is lost or counted twice if an agent that supports Last-Event-ID is
// killed often. The agent continues after the last frame with that id. Some agents send a few earlier frames again.
func TestKills(t *testing.T) {
	for name, m := range map[string]*killedAgent{
		"increasing ids":                      {},
		"increasing ids, repeated frames":     {again: 8},
		"ids from 1 in each turn":             {restart: true},
		"ids from 1 in each turn, repetition": {restart: true, again: 8},
	} {
		t.Run(name, func(t *testing.T) {
			m.random, m.lives = rand.New(rand.NewPCG(1, uint64(m.again))), *kills
			server := httptest.NewServer(m.answer(t))
			defer server.Close()
			a := &tailRecorder{limit: 10 * *kills}
			count := &runCounter{tailRecorder: a}
			count.Tracker = tracker.New(tracker.Settings{MaxOpenRuns: 10, MaxOperations: 100, MaxFacts: 10, IdleTimeout: 1000 * time.Hour}, count, count)
			tail := newTailInto(TailSettings{Name: "support", URL: server.URL, Dialect: "looopy"}, count, a)
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			a.stop = stop
			tail.Run(ctx, "", func() {})
			tail.client.CloseIdleConnections()

			var got strings.Builder
			for _, f := range a.frames {
				fmt.Fprintf(&got, "id: %s\nevent: %s\ndata: %s\n\n", f.ID, f.Event, f.Data)
			}
			lost, twice := difference(m.all, strings.SplitAfter(got.String(), "\n\n"))
			if got.String() != strings.Join(m.all, "") || lost+twice > 0 {
				t.Errorf("of %d frames, %d are lost and %d repeated, or they are out of order", len(m.all), lost, twice)
			}
			if count.runs != m.turns || count.calls != m.turns || count.responses != m.turns || count.incomplete != 0 ||
				count.usage.Input.N != int64(7*m.turns) || count.usage.Output.N != int64(3*m.turns) {
				t.Errorf("%d turns give %d runs, %d of them not completed, %d calls, %d responses and the usage %+v", m.turns, count.runs, count.incomplete, count.calls, count.responses, count.usage)
			}
			repeated := strings.Count(strings.Join(a.got, "\n"), "repeated")
			if repeated != m.resent || m.lives != 0 || m.barren == 0 || m.again > 0 && m.resent == 0 {
				t.Errorf("%d frames are sent again and %d recognized as repeated; %d kills remain, and %d answers had no frame", m.resent, repeated, m.lives, m.barren)
			}
			t.Logf("%d kills, %d of them before a whole frame; %d frames, %d of them sent again; %d lost, %d counted twice", *kills, m.barren, len(m.all), m.resent, lost, twice)
		})
	}
}

// difference counts missing and additional frames.
func difference(want, got []string) (lost, twice int) {
	seen := map[string]int{}
	for _, frame := range got {
		seen[frame]++
	}
	for _, frame := range want {
		if seen[frame]--; seen[frame] < 0 {
			lost++
		}
	}
	for frame, left := range seen {
		if frame != "" && left > 0 {
			twice += left
		}
	}
	return lost, twice
}
