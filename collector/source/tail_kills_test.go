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

// mortal is an agent that is killed at a random byte of each answer, its head included, and comes back with what it had to say.
type mortal struct {
	random  *rand.Rand
	restart bool // ids begin at 1 again with each turn
	again   int  // at most so many frames before the one asked for are sent once more
	lives   int

	all    []string // its frames
	ids    []string // of each
	turns  int
	barren int // answers without a whole frame
	resent int // whole frames that were sent once more
	sent   int // frames of all that were sent whole, at least once
}

// speak brings the frames of another turn, as Looopy's servers send them today: one run, one call, one response.
func (m *mortal) speak() {
	m.turns++
	task := fmt.Sprint("t", m.turns)
	say := func(kind, members string) {
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
	say("task-created", `,"initiator":"user"`)
	say("tool-start", `,"toolCallId":"c1","toolName":"look","arguments":{"q":"`+strings.Repeat("é", m.random.IntN(80))+`"}`)
	for range m.random.IntN(4) {
		say("tool-progress", `,"toolCallId":"c1","progress":0.5`) // the same again, under another id
	}
	say("tool-complete", `,"toolCallId":"c1","toolName":"look","success":true`)
	for range m.random.IntN(9) {
		say("content-delta", `,"delta":"la"`)
	}
	say("content-complete", `,"content":"la","finishReason":"stop"`)
	say("llm-usage", `,"model":"m","prompt_tokens":7,"completion_tokens":3`)
	say("task-complete", `,"content":"la"`)
}

// after is the frame that follows the last one sent with an id, the first without.
func (m *mortal) after(t *testing.T, id string) int {
	if id == "" {
		return 0
	}
	for i := m.sent - 1; i >= 0; i-- {
		if m.ids[i] == id {
			return i + 1
		}
	}
	t.Errorf("came back with %q, which was never sent", id)
	return 0
}

// answer answers, and dies of it.
func (m *mortal) answer(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		next := m.after(t, r.Header.Get("Last-Event-ID"))
		for len(m.all) < next+3 && m.lives > 0 {
			m.speak()
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
		ends := make([]int, 0, to-from) // of each frame in the answer
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

// census is a sink of frames, and an observer of what is made of them.
type census struct {
	*audience
	*tracker.Tracker
	runs, calls, responses, incomplete int
	usage                              event.Usage
}

func (c *census) Open(s *event.Stream)                               { c.Tracker.Open(s) }
func (c *census) Close(s *event.Stream, end event.End, at time.Time) { c.Tracker.Close(s, end, at) }
func (c *census) Consume(b *event.Batch)                             { c.audience.Consume(b); c.Tracker.Consume(b) }
func (c *census) RunStarted(*tracker.Run)                            {}
func (c *census) Evicted(string)                                     { panic("evicted") }
func (c *census) Expired(string)                                     { panic("expired") }
func (c *census) Late(string)                                        { panic("late") }
func (c *census) OperationEnded(_ *tracker.Run, op *tracker.Operation) {
	switch op.Kind {
	case tracker.ExecuteTool:
		c.calls++
	case tracker.Chat:
		c.responses++
	}
}

func (c *census) RunEnded(r *tracker.Run) {
	c.runs++
	if r.Status != tracker.Completed {
		c.incomplete++
	}
	c.usage = c.usage.Add(r.Usage)
}

// TestKills kills agents that honour ids, as often as the flag says: no frame is lost, and none, nor anything that is made of
// them, counts twice. Whoever honours an id goes on after the last frame that was sent with it; some send a few once more.
func TestKills(t *testing.T) {
	for name, m := range map[string]*mortal{
		"ids that go on":                     {},
		"ids that go on, and frames again":   {again: 8},
		"ids from one again":                 {restart: true},
		"ids from one again, and frames too": {restart: true, again: 8},
	} {
		t.Run(name, func(t *testing.T) {
			m.random, m.lives = rand.New(rand.NewPCG(1, uint64(m.again))), *kills
			server := httptest.NewServer(m.answer(t))
			defer server.Close()
			a := &audience{limit: 10 * *kills}
			count := &census{audience: a}
			count.Tracker = tracker.New(tracker.Settings{MaxOpen: 10, MaxOperations: 100, MaxFacts: 10, Idle: 1000 * time.Hour}, count, count)
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
				t.Errorf("of %d frames %d are lost and %d there twice, or their order is another", len(m.all), lost, twice)
			}
			if count.runs != m.turns || count.calls != m.turns || count.responses != m.turns || count.incomplete != 0 ||
				count.usage.Input.N != int64(7*m.turns) || count.usage.Output.N != int64(3*m.turns) {
				t.Errorf("%d turns are %d runs, %d of them not completed, %d calls, %d responses, %+v", m.turns, count.runs, count.incomplete, count.calls, count.responses, count.usage)
			}
			repeated := strings.Count(strings.Join(a.got, "\n"), "repeated")
			if repeated != m.resent || m.lives != 0 || m.barren == 0 || m.again > 0 && m.resent == 0 {
				t.Errorf("%d frames were sent again, and %d known again; %d kills left, %d without a frame", m.resent, repeated, m.lives, m.barren)
			}
			t.Logf("%d kills, %d of them before a whole frame; %d frames, %d of them sent again; %d lost, %d counted twice", *kills, m.barren, len(m.all), m.resent, lost, twice)
		})
	}
}

// difference counts the frames that are missing, and those that are too many.
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
