package relay_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/component"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// account is what one side says of a run. Times are left out, and chats stand in the order in which they ended.
type account struct {
	Agents, Tools, Chats, Transfers []string
	Input, Output                   int64
	Failed, Waits                   bool
}

// TestOpenAIAgentsTruth holds runs of a real application with the OpenAI Agents SDK against what the SDK's own tracing says of
// them.
func TestOpenAIAgentsTruth(t *testing.T) {
	harness.Slow(t)
	_, agent := startOpenAIAgents(t, "openai_agents.py")
	service := harness.Launch(t, fmt.Sprintf(defaultProxy, agent), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	external := readExternal(t, service)
	for _, said := range []string{
		"Hello there.",
		"call weather {\"city\":\"Rome\"} & call weather {\"city\":\"Oslo\"}\nBoth are sunny.",
		"call broken {\"reason\":\"rain\"}\nIt did not work.",
		"call weather {\"city\":\"Rome\"}\ncall transfer_to_expert\ncall weather {\"city\":\"Oslo\"}\nThe expert speaks.",
		"think aloud",
		"fail",
		"call weather {\"city\":\"Rome\"}\nfail",
		"spoil",
		"search fires\nmcp lookup {}\ncall weather {\"city\":\"Rome\"}\nTwo fires.", // of the agent with built-in tools, as those that follow
		"mcp broken {}\nIt did not work.",
		"ask burn {}\nThe end.",
	} {
		builtIn := slices.ContainsFunc([]string{"search ", "mcp ", "ask "}, func(verb string) bool { return strings.HasPrefix(said, verb) })
		for _, shape := range []string{"", `,"wrapped":true`, `,"named":true`} {
			t.Run(said+shape, func(t *testing.T) {
				text, _ := json.Marshal(said)
				before := len(readKept(t, agent))
				read(t, http.MethodPost, service.Address()+"/chat", fmt.Sprintf(`{"whole":true,"hosted":%t,"input":%s%s}`, builtIn, text, shape))
				service.Wait()
				var traces [][]sdkSpan
				if err := json.Unmarshal(read(t, http.MethodGet, agent+"/truth", ""), &traces); err != nil {
					t.Fatal(err)
				}
				run := service.Recent.Reports()[0] // the newest
				want, got := accountOfTrace(traces[len(traces)-1]), accountOf(run)
				for _, response := range readKept(t, agent)[before:] {
					want.addBuiltIn(response)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("the run differs from the SDK's trace:\n%s", diff)
				}
				if want.Waits {
					approve(t, service, run, shape)
				}
			})
		}
	}
	if service.Stop(); service.Count(t, "delegraph_parse_errors_total") > 0 {
		t.Error("parse errors")
	}
	checkUntold(t, "the external stream", <-external)
	bodies := []string{
		`{"whole":true,"hosted":true,"input":"search fires\nmcp lookup {}\nmcp broken {}\nTwo fires."}`,
		`{"whole":true,"input":"call weather {\"city\":\"Rome\"} & call broken {\"reason\":\"rain\"}\nBoth are sunny."}`,
		`{"whole":true,"wrapped":true,"input":"call transfer_to_expert\nThe expert speaks."}`,
		`{"whole":true,"named":true,"input":"think aloud"}`,
		`{"input":"fail"}`,
	}
	checkPublic(t, agent, "/chat", bodies, "Two ", "sunny.", `"expert"`)
}

// approve answers the question of a run. The answer is a run of its own.
func approve(t *testing.T, service *harness.Service, asked tracker.Report, shape string) {
	t.Helper()
	body := fmt.Sprintf(`{"whole":true,"hosted":true,"input":[{"type":"mcp_approval_response","approval_request_id":%q,"approve":true}]%s}`, harness.Text(asked.Inputs[0].ID), shape)
	answer := read(t, http.MethodPost, service.Address()+"/chat", body)
	service.Wait() // a client may have its answer before the run is recorded
	got := accountOf(service.Recent.Reports()[0])
	if want := (account{Agents: []string{"hosted true"}, Tools: []string{"burn true"}, Chats: []string{"true"}, Input: 100, Output: 9}); !cmp.Equal(got, want) {
		t.Errorf("the answered run differs:\n%s\n%s", cmp.Diff(want, got), answer)
	}
}

// TestHandwrittenResponses checks the recordings of the Responses API that were written by hand against the types of OpenAI's own
// client.
func TestHandwrittenResponses(t *testing.T) {
	home := harness.ServersHome(t)
	python := filepath.Join(home, "openai-agents", "bin", "python")
	if _, err := os.Stat(python); err != nil {
		component.Missing(t, "no openai-agents in "+home+": run .ci/install/servers openai-agents")
	}
	arguments := []string{servers + "/openai-agents/validate.py"}
	for _, name := range []string{"approval", "builtin", "error", "refusal", "tools"} {
		arguments = append(arguments, "../../../collector/dialect/openai/testdata/made-"+name+".sse")
	}
	if out, err := exec.CommandContext(t.Context(), python, arguments...).CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

func read(t *testing.T, method, url, body string) []byte {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sdkSpan is what the SDK exports of a span.
type sdkSpan struct {
	Data struct {
		Type, Name string
		From       string `json:"from_agent"`
		To         string `json:"to_agent"`
		Data       struct {
			Kind  string `json:"sdk_span_type"`
			Usage struct {
				Input  int64 `json:"input_tokens"`
				Output int64 `json:"output_tokens"`
			}
		}
	} `json:"span_data"`
	Error any
}

func accountOfTrace(spans []sdkSpan) (a account) {
	for _, s := range spans {
		ended := fmt.Sprintf("%s %v", s.Data.Name, s.Error == nil)
		switch {
		case s.Data.Type == "agent":
			a.Agents, a.Failed = append(a.Agents, ended), a.Failed || s.Error != nil
		case s.Data.Type == "function":
			a.Tools = append(a.Tools, ended)
		case s.Data.Type == "generation" || s.Data.Type == "response":
			a.Chats = append(a.Chats, fmt.Sprint(s.Error == nil))
		case s.Data.Type == "handoff":
			a.Transfers = append(a.Transfers, s.Data.From+" to "+s.Data.To)
		case s.Data.Data.Kind == "task":
			a.Input, a.Output = s.Data.Data.Usage.Input, s.Data.Data.Usage.Output
		}
	}
	slices.Sort(a.Agents)
	slices.Sort(a.Tools)
	return a
}

// addBuiltIn adds the built-in tools of a response, of which the SDK has no spans.
func (a *account) addBuiltIn(k keptResponse) {
	for _, item := range k.Output {
		switch item.Type {
		case "web_search_call":
			a.Tools = append(a.Tools, fmt.Sprintf("web_search %v", item.Status == "completed"))
		case "mcp_call":
			a.Tools = append(a.Tools, fmt.Sprintf("%s %v", item.Name, item.Status == "completed"))
		case "mcp_approval_request":
			a.Waits = true
		}
	}
	slices.Sort(a.Tools)
}

func accountOf(run tracker.Report) (a account) {
	a.Failed, a.Waits = run.Status == tracker.Failed, run.Status == tracker.Interrupted
	for _, op := range run.Operations {
		name, ok := harness.Text(op.Name), op.Status == tracker.OperationOK || op.Status == tracker.OperationInterrupted && run.Status == tracker.Interrupted
		switch op.Kind {
		case tracker.InvokeAgent:
			a.Agents = append(a.Agents, fmt.Sprintf("%s %v", name, ok))
		case tracker.ExecuteTool:
			if !strings.HasPrefix(name, "transfer_to_") { // which the SDK's trace has as a handoff
				a.Tools = append(a.Tools, fmt.Sprintf("%s %v", name, ok))
			}
		case tracker.Chat:
			a.Chats = append(a.Chats, fmt.Sprint(ok))
		}
	}
	for _, transfer := range run.Transfers {
		a.Transfers = append(a.Transfers, harness.Text(transfer.From)+" to "+transfer.To)
	}
	slices.Sort(a.Agents)
	slices.Sort(a.Tools)
	a.Input, a.Output = tokens(run.Usage.Input), tokens(run.Usage.Output)
	return a
}

func tokens(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
