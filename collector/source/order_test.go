package source

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/proof"
)

// TestObservationKeepsOrder relays streams while nothing is observed, then observes them in each possible order. The
// steps are:
//   - "+a" requests a run
//   - "+b?" subscribes to the run
//   - "+c!" answers the run's question
//   - "+d@" requests a run of a session, "+e#" one of another session
//   - "a:1" is a frame
//   - "-a" is the end of a stream
//   - "-a." is a client that leaves
//   - "~" is a pause
func TestObservationKeepsOrder(t *testing.T) {
	for _, c := range []struct {
		name, steps string
		orders      int // the minimum number of orders, so that the test cannot become empty
	}{
		{"a subscriber", "+a a:1 +b? b:2 a:3 b:3 -a -b", 4},
		{"a subscriber that gets a frame after the first client", "+a a:1 +b? a:3 -a b:2 b:3 -b", 1},
		{"a client that changes to another stream", "+a a:1 +b? b:2 -a. b:3 -b", 1},
		{"a subscriber that leaves", "+a a:1 +b? b:2 a:2 -b. a:3 -a", 2},
		{"two subscribers", "+a a:1 +b? b:2 +c? c:2 a:3 b:3 c:3 -b -a -c", 6},
		{"an unrelated request", "+a +d a:1 d:1 +b? b:2 -d -a -b", 2},
		{"a subscriber after the end", "+a a:1 -a +b? b:2 -b", 1},
		{"an answer", "+a a:1 +c! c:2 a:3 -a -c", 4},
		{"the next turn of a session", "+a@ a:1 -a +b@ b:2 -b", 1},
		{"the next turn of a session that the agent has named", "+a a:1 -a +b@ b:2 -b", 1},
		{"the next turn while the first stream is still open", "+a@ a:1 +b@ b:2 -a -b", 3},
		{"a turn of another session", "+a@ a:1 -a +d# d:2 -d", 20},
		{"a subscriber that is served first", "+a +b? b:2 a:1 a:3 b:3 -a -b", 4},
		{"a subscriber that is served long before", "+a +b? b:2 ~ a:1 a:3 b:3 -a -b", 8},
	} {
		for _, filtered := range []bool{false, true} {
			steps, tried := strings.Fields(c.steps), 0
			for choices := []int{}; choices != nil; tried++ {
				var order []string
				synctest.Test(t, func(t *testing.T) { order, choices = observeIn(t, steps, choices, filtered) })
				if wrong := outOfOrder(steps, order); wrong != "" {
					t.Fatalf("%s, filtered %t: %s: observed as %s: %s", c.name, filtered, c.steps, strings.Join(order, " "), wrong)
				}
			}
			if tried < c.orders {
				t.Errorf("%s, filtered %t: %d orders were tried, want at least %d", c.name, filtered, tried, c.orders)
			}
		}
	}
}

// outOfOrder returns the first violation of the order in which the steps were received, or "".
func outOfOrder(steps, order []string) string {
	if want := slices.DeleteFunc(slices.Clone(steps), func(step string) bool { return step == "~" }); len(order) != len(want) {
		return "not everything was observed"
	}
	if a, b := slices.Index(order, "a:1"), slices.Index(order, "+b?"); b >= 0 && a > b && !slices.Contains(steps, "~") {
		return "a:1 names the run that b listens to"
	}
	listens := func(stream string) bool { return slices.Contains(steps, "+"+stream+"?") }
	for j, later := range steps {
		for _, earlier := range steps[:j] {
			a, b := streamOf(earlier), streamOf(later)
			if a == b || a == "~" || b == "~" {
				continue
			}
			matters := later[0] == '+' && strings.ContainsAny(later, "?!@") || // earlier frames may be the reason for the request
				earlier[0] == '+' && strings.ContainsAny(earlier, "?!") && later[0] == '-' ||
				(earlier[0] == '-' || later[0] == '-') && (listens(a) || listens(b)) && earlier[0] != '+'
			if matters && slices.Index(order, earlier) > slices.Index(order, later) {
				return earlier + " came before " + later
			}
		}
	}
	return ""
}

func streamOf(step string) string { return strings.Trim(step, "+-.?!@#:0123456789") }

// observeIn relays the steps and returns the order in which they were observed. If several streams can be observed next, a choice selects
// one. The next choices are nil after the last order.
func observeIn(t *testing.T, steps []string, choices []int, filtered bool) (order []string, next []int) {
	gate := &gatedSink{names: map[time.Time]string{}, waiting: map[string]gatedCall{}}
	p := newGatedProxy(gate, filtered)
	agents, clients := map[string]*io.PipeWriter{}, map[string]io.Closer{}
	for _, step := range steps {
		name := streamOf(step)
		switch {
		case step == "~":
			time.Sleep(maxRequestWait)
		case step[0] == '+':
			gate.name(name)
			agents[name], clients[name] = askFor(t, p, step)
		case strings.HasSuffix(step, "."):
			_ = clients[name].Close()
		case step[0] == '-':
			_ = agents[name].Close()
		default:
			_, _ = fmt.Fprintf(agents[name], "data: %s\n\n", fmt.Sprintf(workingUpdate, step))
		}
		time.Sleep(maxObserveDelay) // now everything is observed that is not blocked
	}
	var counts []int
	for gate.hasBlockedCall() {
		if len(counts) == len(choices) {
			choices = append(choices, 0)
		}
		name := slices.Sorted(maps.Keys(gate.waiting))[choices[len(counts)]]
		counts = append(counts, len(gate.waiting))
		call := gate.waiting[name]
		order = append(order, steps[slices.IndexFunc(steps, func(step string) bool { return call.matches(name, step) })])
		delete(gate.waiting, name)
		close(call.pass)
	}
	p.Wait()
	for at := len(counts) - 1; at >= 0; at-- {
		if choices[at]+1 < counts[at] {
			return order, append(slices.Clone(choices[:at]), choices[at]+1)
		}
	}
	return order, nil
}

const workingUpdate = `{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"},"metadata":{"step":%q}}}}`

// askFor makes a client request a stream and read it to its end.
func askFor(t *testing.T, p *Proxy, step string) (agent *io.PipeWriter, client io.Closer) {
	t.Helper()
	asked := `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{}}}`
	switch {
	case strings.HasSuffix(step, "?"):
		asked = `{"jsonrpc":"2.0","id":1,"method":"SubscribeToTask","params":{"id":"t"}}`
	case strings.HasSuffix(step, "!"):
		asked = `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"taskId":"t"}}}`
	case strings.ContainsAny(step, "@#"):
		asked = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":{"contextId":%q}}}`, step[len(step)-1:])
	}
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(asked))
	body := newRequestBody(r)
	x := p.begin(r, &exchange{route: p.route(r), body: body})
	r = withForwarded(r, &forwardedRequest{body: body, exchange: x})
	_, _ = io.ReadAll(body)
	from, agent := io.Pipe()
	ctx, leave := context.WithCancel(r.Context())
	resp := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: from, Request: r.WithContext(ctx)}
	if err := p.prepareAnswer(resp); err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = io.ReadAll(resp.Body)
		_ = resp.Body.Close()
	}()
	return agent, closing(func() error { leave(); return from.CloseWithError(context.Canceled) })
}

type closing func() error

func (c closing) Close() error { return c() }

func newGatedProxy(sink event.Sink, filtered bool) *Proxy {
	settings := ProxySettings{Name: "s", BodyLimit: 1 << 10, JSONDepth: 64, QueueLimit: 1 << 20, FrameLimit: 1 << 20, Dialect: "a2a"}
	if filtered {
		settings.NewFilter = func() Filter { return passAll{} }
	}
	c := collector.New(collector.Dialects(), collector.Settings{MaxFrame: 1 << 20, MaxJSONDepth: 64, Proof: proof.Limits{MaxText: 1 << 16, MaxFindings: 32}}, sink)
	return NewProxy(settings, c, collector.Dialects(), Tracing{}, noCounters{}, slog.New(slog.DiscardHandler), time.Now)
}

// noCounters implements Counters and counts nothing.
type noCounters struct{}

func (noCounters) SetSourceUp(string, bool)           {}
func (noCounters) CountBrokenAnswer(string)           {}
func (noCounters) CountUnchangedCard(_, _ string)     {}
func (noCounters) CountUnobserved(_, _ string, _ int) {}
func (noCounters) CountUnreadRequest(_, _ string)     {}

// gatedSink blocks all calls and releases them one at a time.
type gatedSink struct {
	mu      sync.Mutex
	names   map[time.Time]string // of streams, by the time of their requests
	waiting map[string]gatedCall // by stream
}

type gatedCall struct {
	what string // "+", "-" or the data of a frame
	pass chan struct{}
}

// matches reports whether the call is the observation of a step.
func (c gatedCall) matches(stream, step string) bool {
	return streamOf(step) == stream && (step[:1] == c.what || strings.Contains(c.what, `"`+step+`"`))
}

// name sets the name of the stream that is requested next.
func (g *gatedSink) name(stream string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.names[time.Now()] = stream
}

func (g *gatedSink) wait(s *event.Stream, what string) {
	call := gatedCall{what, make(chan struct{})}
	g.mu.Lock()
	g.waiting[g.names[s.OpenedAt]] = call
	g.mu.Unlock()
	<-call.pass
}

// hasBlockedCall waits until all goroutines are blocked, and reports whether a call of the sink is among them.
func (g *gatedSink) hasBlockedCall() bool {
	if synctest.Wait(); len(g.waiting) == 0 {
		time.Sleep(maxRequestWait)
		synctest.Wait()
	}
	return len(g.waiting) > 0
}

func (g *gatedSink) Open(s *event.Stream)                            { g.wait(s, "+") }
func (g *gatedSink) Consume(b *event.Batch)                          { g.wait(b.Stream, string(b.Frame.Data)) }
func (g *gatedSink) Close(s *event.Stream, _ event.End, _ time.Time) { g.wait(s, "-") }
