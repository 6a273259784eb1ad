package relay_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/component"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestOpenAIResponses runs OpenAI's own client against a scripted Responses API with built-in tools, approvals and
// background responses. The client calls the API directly and through a filtered relay, and must get the same answers.
// External streams must contain nothing that the policy withholds. The runs must be the responses that the API created.
func TestOpenAIResponses(t *testing.T) {
	harness.Slow(t)
	client, agent := startOpenAIAgents(t, "openai_responses.py")
	service := harness.Launch(t, fmt.Sprintf(defaultProxy, agent), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	external := readExternal(t, service)
	direct := client(agent)
	before := len(readKept(t, agent))
	if difference := firstDifference(direct, client(service.Address())); difference != "" {
		t.Error(difference)
	}
	kept := readKept(t, agent)[before:]
	if service.Stop(); service.Count(t, "delegraph_parse_errors_total") > 0 {
		t.Errorf("%g parse errors", service.Count(t, "delegraph_parse_errors_total"))
	}
	checkUntold(t, "the external stream", <-external)
	reports := service.Recent.Reports()
	if len(reports) != len(kept) {
		t.Errorf("%d runs, the API made %d responses: %s", len(reports), len(kept), listRuns(reports))
	}
	for _, response := range kept {
		i := slices.IndexFunc(reports, func(r tracker.Report) bool { return harness.Text(r.Run) == response.ID })
		if i < 0 {
			t.Errorf("no run of %s", response.ID)
			continue
		}
		if diff := cmp.Diff(response.account(), responseOf(reports[i])); diff != "" {
			t.Errorf("%s (-the API's own +ours):\n%s", response.ID, diff)
		}
	}
	bodies := []string{
		`{"model":"scripted","stream":true,"input":"search fires\nmcp lookup {}\nmcp broken {}\nTwo fires."}`,
		`{"model":"scripted","stream":true,"instructions":"a note of the application","input":"ask burn {}"}`,
		`{"model":"scripted","stream":true,"input":"call weather {\"city\":\"Rome\"}"}`,
		`{"model":"scripted","stream":true,"input":"think aloud"}`,
		`{"model":"scripted","stream":true,"input":"fail"}`,
	}
	checkPublic(t, agent, "/v1/responses", bodies, "Two ", `"web_search_call"`, `"name":"weather"`)
}

// checkPublic asks through a public relay. The answers have the wanted texts, and nothing that the policy withholds.
func checkPublic(t *testing.T, agent, path string, bodies []string, wanted ...string) {
	t.Helper()
	service := harness.Launch(t, fmt.Sprintf(publicProxy, agent, path), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	var all []byte
	for _, body := range bodies {
		all = append(all, read(t, http.MethodPost, service.Address()+path, body)...)
	}
	service.Stop()
	checkTold(t, string(all), wanted...)
	checkUntold(t, "the public relay", string(all))
	if n := service.Count(t, "delegraph_parse_errors_total"); n > 0 {
		t.Errorf("%g parse errors", n)
	}
}

func startOpenAIAgents(t *testing.T, script string) (client func(url string) string, agent string) {
	t.Helper()
	home := harness.ServersHome(t)
	if !harness.IsInstalled(t, home, "openai-agents") {
		component.Missing(t, "no openai-agents in "+home+": run .ci/install/servers openai-agents")
	}
	return newClient(t, script, filepath.Join(home, "openai-agents")), harness.ServeReal(t, home, "openai-agents")
}

// keptResponse is what the scripted API knows of a response.
type keptResponse struct {
	ID, Status string
	Output     []struct {
		Type, Name, Status string
		Approved           string `json:"approval_request_id"`
	}
	Usage struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	}
}

func readKept(t *testing.T, agent string) (kept []keptResponse) {
	t.Helper()
	if err := json.Unmarshal(read(t, http.MethodGet, agent+"/v1/kept", ""), &kept); err != nil {
		t.Fatal(err)
	}
	return kept
}

// response is what one side says of a response and its tools.
type response struct {
	Status         string
	Tools          []string
	Waits, Answers bool // it waits for what another response brings; it answers what an earlier one asked
	Input, Output  int64
}

func (k keptResponse) account() response {
	r := response{Status: k.Status, Input: k.Usage.Input, Output: k.Usage.Output}
	for _, item := range k.Output {
		switch item.Type {
		case "web_search_call":
			r.Tools = append(r.Tools, "web_search "+item.Status)
		case "mcp_call":
			r.Tools = append(r.Tools, item.Name+" "+item.Status)
			r.Answers = r.Answers || item.Approved != ""
		case "function_call":
			r.Tools = append(r.Tools, item.Name+" unfinished") // its output comes with the next request
		case "mcp_approval_request":
			r.Status, r.Waits = "interrupted", true
		}
	}
	slices.Sort(r.Tools)
	return r
}

func responseOf(run tracker.Report) response {
	r := response{Status: string(run.Status), Input: count(run.Usage.Input), Output: count(run.Usage.Output), Waits: len(run.Inputs) > 0}
	words := map[tracker.OperationStatus]string{tracker.OperationOK: "completed", tracker.OperationError: "failed", tracker.OperationUnfinished: "unfinished"}
	for _, op := range run.Operations {
		if op.Kind == tracker.ExecuteTool {
			r.Tools = append(r.Tools, harness.Text(op.Name)+" "+words[op.Status])
		}
		r.Answers = r.Answers || op.Kind == tracker.ExecuteTool && harness.Text(op.Name) == "burn" && len(run.Links) > 0
	}
	slices.Sort(r.Tools)
	return r
}
