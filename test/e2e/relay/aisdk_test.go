package relay_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/test/component"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestAISDKClients runs the AI SDK's own client against real servers. The client calls them directly and through a
// filtered relay, and must get the same answers. The external stream must contain nothing that the policy withholds.
// The runs must match the SDK's own spans.
func TestAISDKClients(t *testing.T) {
	for _, server := range []string{"vercel", "pydantic-ai"} {
		t.Run(server, func(t *testing.T) {
			client, agent := startAISDK(t, server)
			service := harness.Launch(t, fmt.Sprintf(defaultProxy, agent), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
			external := readExternal(t, service)
			direct := client(agent)
			own := readOwnRuns(t, agent)
			through := client(service.Address())
			own = readOwnRuns(t, agent)[len(own):]
			if difference := firstDifference(direct, through); difference != "" {
				t.Error(difference)
			}
			if service.Stop(); service.Count(t, "delegraph_parse_errors_total") > 0 {
				t.Errorf("%g parse errors", service.Count(t, "delegraph_parse_errors_total"))
			}
			checkUntold(t, "the external stream", <-external)
			if runs := service.Recent.Reports(); server == "vercel" {
				checkOwnRuns(t, own, runs)
			} else if len(runs) != 13 || runs[0].Status != tracker.Canceled {
				t.Errorf("%d runs, want 13, and the client left during the last: %s", len(runs), listRuns(runs))
			}
		})
	}
}

// TestAISDKClientOfPublic has the client read what is public of an agent: it reads to the end, and gets no argument, result or metadata.
func TestAISDKClientOfPublic(t *testing.T) {
	client, agent := startAISDK(t, "vercel")
	service := harness.Launch(t, fmt.Sprintf(publicProxy, agent, "/api/chat"), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	got := client(service.Address())
	checkUntold(t, "the public relay", got)
	for _, fault := range []string{"ValidationError", "UIMessageStreamError", "TypeError"} {
		if strings.Contains(got, fault) {
			t.Errorf("the client reports a %s:\n%s", fault, got)
		}
	}
	checkTold(t, got, "Sunny, ", `"toolName":"weather"`)
}

// TestResumedChat has a client resume a recorded answer of the AI SDK. Both read one run. The steps are those of TestRetrievedResponse.
func TestResumedChat(t *testing.T) {
	for _, c := range []struct {
		steps string
		want  tracker.Status
	}{
		{"begin retrieve end retrieved", tracker.Completed},
		{"begin retrieve retrieved end", tracker.Completed},
		{"begin retrieve leave retrieved", tracker.Completed},
		{"begin leave retrieve retrieved", tracker.Completed},
		{"begin leave", tracker.Canceled},
		{"begin end retrieve retrieved", tracker.Completed},
		{"retrieve retrieved", tracker.Completed},
	} {
		for path, configured := range map[string]string{"/api/chat/chat-1/stream": "", "/agent/chat-1/stream": `, paths: ["/api/chat", "/agent/*/stream"]}, dialect: aisdk`} {
			t.Run(c.steps+" "+path, func(t *testing.T) {
				b := serveBackground(t, "vercel/recordings/tools", `"messageId":"`, 0)
				b.get = path
				proxy := fmt.Sprintf(retrievingProxy, b.URL)
				if configured != "" {
					proxy = strings.Replace(proxy, "}}", configured+"}", 1)
				}
				service := harness.Launch(t, proxy, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
				b.take(t, service, strings.Fields(c.steps))
				service.Stop()
				reports := service.Recent.Reports()
				if len(reports) != 1 || reports[0].Status != c.want || harness.Text(reports[0].Run) != b.id {
					t.Fatalf("want one run of %s that is %s, got %s", b.id, c.want, listRuns(reports))
				}
				if run := reportedRun(t, reports[0]); c.want == tracker.Completed && (run.Responses != 2 || len(run.Tools) != 2 || run.Input == 0) {
					t.Errorf("%+v", run)
				}
			})
		}
	}
}

const publicProxy = `
sources:
  - {name: app, proxy: {listen: "127.0.0.1:0", upstream: %q, paths: [%q]}, policy: public}
`

// untold are arguments, results, reasons and metadata that the servers send.
var untold = []string{"a note of the application", "sunny in", "no luck", "paid 5", `"city"`, `"amount"`, "on fire", `"usage"`, "Let me think", "c3Vubnk=", "a secret map", "You are secretive"}

func checkUntold(t *testing.T, where, got string) {
	t.Helper()
	if len(got) == 0 {
		t.Errorf("nothing is in %s", where)
	}
	for _, secret := range untold {
		if i := strings.Index(got, secret); i >= 0 {
			t.Errorf("%s has %q: %.300s", where, secret, got[max(0, i-150):])
		}
	}
}

func checkTold(t *testing.T, got string, wanted ...string) {
	t.Helper()
	for _, text := range wanted {
		if !strings.Contains(got, text) {
			t.Errorf("no %q in\n%s", text, got)
		}
	}
}

func startAISDK(t *testing.T, server string) (client func(url string) string, agent string) {
	t.Helper()
	home := harness.ServersHome(t)
	for _, environment := range []string{server, "vercel"} {
		if !harness.IsInstalled(t, home, environment) {
			component.Missing(t, "no "+environment+" in "+home+": run .ci/install/servers vercel pydantic-ai")
		}
	}
	return newClient(t, "aisdk.mjs", filepath.Join(home, "vercel")), harness.ServeReal(t, home, server)
}

// readExternal reads the external stream until the service stops.
func readExternal(t *testing.T, service *harness.Service) <-chan string {
	t.Helper()
	response, err := http.Get("http://" + service.StreamAddr() + "/events")
	if err != nil {
		t.Fatal(err)
	}
	all := make(chan string, 1)
	go func() {
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		all <- string(text)
	}()
	return all
}

// ownRun is what the AI SDK's spans say of a run.
type ownRun struct {
	Chat          string
	Status        string
	Tools         []string // that ran, with their status
	Responses     int      // of which the model sent at least one chunk
	Input, Output int64
	cut           bool // the run was stopped, and the SDK ended only its span
}

type ownSpan struct {
	Name, ID, Parent string
	Failed           bool
	Attributes       struct {
		Chat         string   `json:"ai.telemetry.metadata.chat"`
		Tool         string   `json:"ai.toolCall.name"`
		FirstChunk   *float64 `json:"ai.response.msToFirstChunk"`
		FinishReason string   `json:"ai.response.finishReason"`
		Input        int64    `json:"ai.usage.inputTokens"`
		Output       int64    `json:"ai.usage.outputTokens"`
	}
}

// readOwnRuns reads the runs of the server's own spans, in the order of their end. Other servers than the SDK's have none.
func readOwnRuns(t *testing.T, agent string) (runs []ownRun) {
	t.Helper()
	response, err := http.Get(agent + "/spans")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var spans []ownSpan
	if response.StatusCode != http.StatusOK {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(&spans); err != nil {
		t.Fatal(err)
	}
	for _, root := range spans {
		if root.Parent == "" && root.Attributes.Chat != "" {
			runs = append(runs, newOwnRun(root, spans))
		}
	}
	return runs
}

func newOwnRun(root ownSpan, spans []ownSpan) ownRun {
	said := root.Attributes
	run := ownRun{Chat: said.Chat, Status: "completed", Input: said.Input, Output: said.Output, cut: said.FinishReason == "" && !root.Failed}
	failed := root.Failed || said.FinishReason == "error"
	for _, span := range spans {
		switch {
		case span.Parent != root.ID:
		case span.Name == "ai.toolCall":
			run.Tools = append(run.Tools, fmt.Sprintf("%s failed=%t", span.Attributes.Tool, span.Failed))
		default:
			if failed = failed || span.Failed; span.Attributes.FirstChunk != nil {
				run.Responses++
			}
		}
	}
	switch {
	case failed:
		run.Status = "failed"
	case run.cut:
		run.Status = "canceled"
	}
	slices.Sort(run.Tools)
	return run
}

// checkOwnRuns compares runs with those of the server's own spans, chat by chat.
func checkOwnRuns(t *testing.T, own []ownRun, reports []tracker.Report) {
	t.Helper()
	slices.Reverse(reports) // the oldest first
	for _, want := range own {
		i := slices.IndexFunc(reports, func(r tracker.Report) bool { return harness.Text(r.Session) == want.Chat })
		if i < 0 {
			t.Errorf("no run of %s", want.Chat)
			continue
		}
		got := reportedRun(t, reports[i])
		reports = slices.Delete(reports, i, i+1)
		if want.cut { // what was open then is in no span
			want.Responses, want.Input, want.Output = got.Responses, got.Input, got.Output
		}
		if got.Status == "interrupted" { // the SDK has no word for it
			want.Status = got.Status
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(ownRun{}), cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".cut" }, cmp.Ignore())); diff != "" {
			t.Errorf("%s (-the SDK's own +ours):\n%s", want.Chat, diff)
		}
	}
	if len(reports) != 1 || harness.Text(reports[0].Session) != "chat-13" { // without a name in the server's spans
		t.Errorf("the SDK has no spans of: %s", listRuns(reports))
	}
}

func reportedRun(t *testing.T, r tracker.Report) ownRun {
	t.Helper()
	run := ownRun{Chat: harness.Text(r.Session), Status: string(r.Status)}
	if r.Usage.Input != nil && r.Usage.Output != nil {
		run.Input, run.Output = *r.Usage.Input, *r.Usage.Output
	}
	for _, op := range r.Operations[1:] {
		if harness.Text(op.Parent) != r.Operations[0].ID {
			t.Errorf("%s: %s %s is not directly below the run", run.Chat, op.Kind, harness.Text(op.Name))
		}
		refused := run.Chat == "chat-5" // nothing ran in it
		switch {
		case op.Kind == tracker.Chat:
			run.Responses++
		case op.Status == tracker.OperationOK || op.Status == tracker.OperationError && !refused:
			run.Tools = append(run.Tools, fmt.Sprintf("%s failed=%t", harness.Text(op.Name), op.Status == tracker.OperationError))
		}
	}
	slices.Sort(run.Tools)
	return run
}
