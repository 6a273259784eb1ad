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

// account is what one side says of a run. Times are left out, and operations of a kind stand in the order in which they ended.
type account struct {
	Agents, Tools, Chats, Transfers []string
	Input, Output                   int64
	Failed                          bool
}

// TestOpenAIAgentsTruth holds runs of a real application with the OpenAI Agents SDK against what the SDK's own tracing says of
// them.
func TestOpenAIAgentsTruth(t *testing.T) {
	harness.Slow(t)
	home := harness.ServersHome(t)
	if !harness.IsInstalled(t, home, "openai-agents") {
		component.Missing(t, "no openai-agents in "+home+": run .ci/install/servers openai-agents")
	}
	agent := harness.ServeReal(t, home, "openai-agents")
	service := harness.Launch(t, fmt.Sprintf(defaultProxy, agent), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	for _, said := range []string{
		"Hello there.",
		"call weather {\"city\":\"Rome\"} & call weather {\"city\":\"Oslo\"}\nBoth are sunny.",
		"call broken {\"reason\":\"rain\"}\nIt did not work.",
		"call weather {\"city\":\"Rome\"}\ncall transfer_to_expert\ncall weather {\"city\":\"Oslo\"}\nThe expert speaks.",
		"think aloud",
		"fail",
		"call weather {\"city\":\"Rome\"}\nfail",
		"spoil",
	} {
		for _, shape := range []string{"", `,"wrapped":true`, `,"named":true`} {
			t.Run(said+shape, func(t *testing.T) {
				text, _ := json.Marshal(said)
				read(t, http.MethodPost, service.Address()+"/chat", fmt.Sprintf(`{"whole":true,"input":%s%s}`, text, shape))
				var traces [][]sdkSpan
				if err := json.Unmarshal(read(t, http.MethodGet, agent+"/truth", ""), &traces); err != nil {
					t.Fatal(err)
				}
				got := accountOf(service.Recent.Reports()[0]) // the newest
				if diff := cmp.Diff(accountOfTrace(traces[len(traces)-1]), got); diff != "" {
					t.Errorf("the run differs from the SDK's trace:\n%s", diff)
				}
			})
		}
	}
	if service.Stop(); service.Count(t, "delegraph_parse_errors_total") > 0 {
		t.Error("parse errors")
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
		case s.Data.Type == "generation":
			a.Chats = append(a.Chats, fmt.Sprint(s.Error == nil))
		case s.Data.Type == "handoff":
			a.Transfers = append(a.Transfers, s.Data.From+" to "+s.Data.To)
		case s.Data.Data.Kind == "task":
			a.Input, a.Output = s.Data.Data.Usage.Input, s.Data.Data.Usage.Output
		}
	}
	slices.Sort(a.Agents)
	return a
}

func accountOf(run tracker.Report) (a account) {
	a.Failed = run.Status == tracker.Failed
	for _, op := range run.Operations {
		name, ok := harness.Text(op.Name), op.Status == tracker.OperationOK
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
	a.Input, a.Output = tokens(run.Usage.Input), tokens(run.Usage.Output)
	return a
}

func tokens(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
