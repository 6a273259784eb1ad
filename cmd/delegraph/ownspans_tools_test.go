package main

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
)

// TestOwnSpansOfParallelTools has two calls in one answer of the model. The first tool lasts until the client has seen the calls,
// the second until the agent has sent the span of the first. The stream has one frame with both responses.
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
				after(t, "get_time ends", last.own.ended, "get_weather", first.own.ended)
				for _, tool := range []pair{first, last} {
					after(t, "the agent's "+tool.own.name+" ends", tool.own.ended.Add(l.early), "ours begins", tool.ours.began)
					after(t, tool.ours.name+" ends", tool.ours.ended, "the agent's last tool", last.own.ended)
				}
				first.kind, last.kind = firstOfTwo, lastOfTwo
				measured.add(first, last)
			}
			t.Logf("our times against the agent's own:\n%s", measured)
		})
	}
}

// toolGates has, for the path of each tool, what lets one call of it end.
type toolGates map[string]chan struct{}

func (g toolGates) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	select {
	case <-g[r.URL.Path]:
	case <-r.Context().Done():
	}
}

// runGated runs the story as a client that reads frame by frame.
func (s *stage) runGated(t *testing.T, r *doubleRun, gates toolGates) {
	t.Helper()
	s.agent.CreateSession(t, adkserver.App, "u", r.session)
	resp, err := http.Post(s.car.address()+"/run_sse", "application/json",
		bytes.NewReader(adkserver.RunRequest("u", r.session, "case:"+r.story, r.streaming)))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	frames := sse.NewReader(resp.Body, 1<<20)
	call := readCall(t, frames, "get_weather")
	gates["/get_weather"] <- struct{}{}
	await(t, func(context.Context) error {
		for _, span := range s.own.spans() {
			if said(span, "gen_ai.tool.call.id") == call {
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
	s.car.Wait()
	r.report = s.car.Recent.Reports()[0]
}

// readCall reads up to the whole frame with the call, and returns its id.
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

// tool is the only call of the tool.
func (r *doubleRun) tool(t *testing.T, name string) pair {
	t.Helper()
	ours := r.ours.one(t, "execute_tool "+name)
	own := r.own.only(t, name, func(s *tracepb.Span) bool {
		return said(s, "gen_ai.tool.call.id") == said(ours, "gen_ai.tool.call.id") && strings.HasSuffix(s.Name, name)
	})
	return pair{oneTool, lapseOf(ours), lapseOf(own)}
}
