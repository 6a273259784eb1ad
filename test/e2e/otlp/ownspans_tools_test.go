package otlp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestOwnSpansOfParallelTools makes two calls in one answer of the model. The first tool lasts until the client has seen the
// calls, the second until the agent has sent the span of the first. The stream has one frame with both responses.
func TestOwnSpansOfParallelTools(t *testing.T) {
	for name, l := range languages {
		t.Run(name, func(t *testing.T) {
			gates := toolGates{"/get_weather": make(chan struct{}), "/get_time": make(chan struct{})}
			server := httptest.NewServer(gates)
			t.Cleanup(server.Close)
			s := newStage(t, l, "TOOL_GATE="+server.URL)
			var runs []*doubleRun
			for round := range *rounds {
				for _, streaming := range []bool{false, true} {
					r := &doubleRun{story: "parallel_tools", streaming: streaming, session: fmt.Sprint(streaming, round)}
					s.runGated(t, r, gates)
					runs = append(runs, r)
				}
			}
			s.complete(t, runs)
			measured := deviations{}
			for _, r := range runs {
				l.checkAccounts(t, r)
				l.checkTimes(t, r)
				first, last := r.tool(t, "get_weather"), r.tool(t, "get_time")
				after(t, "get_time ends", last.own.Ended, "get_weather", first.own.Ended)
				for _, tool := range []pair{first, last} {
					after(t, "the agent's "+tool.own.Name+" ends", tool.own.Ended.Add(l.early), "ours begins", tool.ours.Began)
					after(t, tool.ours.Name+" ends", tool.ours.Ended, "the agent's last tool", last.own.Ended)
				}
				first.kind, last.kind = firstOfTwo, lastOfTwo
				measured.add(first, last)
			}
			t.Logf("our times against the agent's own:\n%s", measured)
		})
	}
}

// toolGates maps the path of each tool to a channel that lets one call of it end.
type toolGates map[string]chan struct{}

func (g toolGates) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	select {
	case <-g[r.URL.Path]:
	case <-r.Context().Done():
	}
}

// runGated runs the story with a client that reads frame by frame.
func (s *stage) runGated(t *testing.T, r *doubleRun, gates toolGates) {
	t.Helper()
	s.agent.CreateSession(t, adkserver.App, "u", r.session)
	resp, err := http.Post(s.service.Address()+"/run_sse", "application/json",
		bytes.NewReader(adkserver.RunRequest("u", r.session, "case:"+r.story, r.streaming)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	frames := sse.NewReader(resp.Body, 1<<20)
	call := readCall(t, frames, "get_weather")
	gates["/get_weather"] <- struct{}{}
	harness.Await(t, func(context.Context) error {
		for _, span := range s.own.Spans() {
			if harness.Attribute(span, "gen_ai.tool.call.id") == call {
				return nil
			}
		}
		return errors.New("the agent has not sent the span of get_weather")
	})
	gates["/get_time"] <- struct{}{}
	for err == nil {
		_, err = frames.Next()
	}
	if !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	s.service.Wait()
	r.report = s.service.Recent.Reports()[0]
}

// readCall reads up to the whole frame with the call and returns the call's id.
func readCall(t *testing.T, frames *sse.Reader, tool string) string {
	t.Helper()
	for {
		read, err := frames.Next()
		if err != nil {
			t.Fatal(err)
		}
		var f struct {
			Partial bool
			Content struct {
				Parts []struct{ FunctionCall struct{ ID, Name string } }
			}
		}
		if err := json.Unmarshal(read.Data, &f); err != nil {
			t.Fatal(err)
		}
		for _, p := range f.Content.Parts {
			if !f.Partial && p.FunctionCall.Name == tool {
				return p.FunctionCall.ID
			}
		}
	}
}

// tool returns the only call of the tool.
func (r *doubleRun) tool(t *testing.T, name string) pair {
	t.Helper()
	ours := r.ours.One(t, "execute_tool "+name)
	own := r.own.Only(t, name, func(s *tracepb.Span) bool {
		return harness.Attribute(s, "gen_ai.tool.call.id") == harness.Attribute(ours, "gen_ai.tool.call.id") && strings.HasSuffix(s.Name, name)
	})
	return pair{oneTool, harness.IntervalOf(ours), harness.IntervalOf(own)}
}
