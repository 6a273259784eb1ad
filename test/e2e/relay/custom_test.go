package relay_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/dialect/custom"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// The example to which docs/how-to/custom-dialect.md links, and the stream of its agent.
const (
	homeGrown       = "../../../collector/dialect/custom/testdata/delegraph.yml"
	homeGrownStream = "../../../collector/dialect/custom/testdata/helpdesk.sse"
)

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// launchHomeGrown runs the example in front of an agent that answers on any path with the request's body, or with the example's
// stream if that is empty.
func launchHomeGrown(t *testing.T, change ...string) (service *harness.FileService, text string) {
	t.Helper()
	stream := readText(t, homeGrownStream)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ := io.ReadAll(r.Body)
		if len(sent) == 0 {
			sent = []byte(stream)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(sent)
	}))
	t.Cleanup(agent.Close)
	text = "stream: {listen: \"127.0.0.1:0\"}\n" + strings.NewReplacer(
		`":8080"`, `"127.0.0.1:0"`, `"http://127.0.0.1:7000"`, fmt.Sprintf("%q", agent.URL)).Replace(readText(t, homeGrown))
	text = strings.NewReplacer(change...).Replace(text)
	return harness.LaunchFile(t, text, map[string]string{"OTEL_TRACES_EXPORTER": "none"}), text
}

// TestHomeGrownAgent sends the stream of a home-grown agent through a proxy. The client gets the mapped frames, and the
// public stream has fewer of them. Operations and metrics exist as for any other agent.
func TestHomeGrownAgent(t *testing.T) {
	service, _ := launchHomeGrown(t)
	got := service.Chat(t, "/chat", "")
	for _, secret := range []string{"internal:rank", "secret ranking", "secret audit", `"debug"`} {
		if strings.Contains(got, secret) {
			t.Errorf("the client got %s", secret)
		}
	}
	if n := strings.Count(got, "data: "); n != 24 || !strings.Contains(got, `"shard":"eu-3"`) || !strings.Contains(got, "4111 1111") {
		t.Errorf("the client got %d frames:\n%s", n, got)
	}
	harness.Await(t, func(context.Context) error {
		if n := service.Runs(t, "helpdesk"); n != 1 {
			return fmt.Errorf("%d runs", n)
		}
		return nil
	})
	var tree []string
	for _, op := range service.Recent.Reports()[0].Operations {
		tree = append(tree, fmt.Sprint(op.Kind, " ", *op.Name, " ", op.Status))
	}
	want := []string{
		"invoke_agent concierge ok", "chat small-1 ok", "invoke_agent billing ok", "execute_tool lookup_order ok", "execute_tool refund error",
		"chat large-2 ok", "invoke_agent shipping ok", "invoke_agent writer ok",
	}
	if diff := cmp.Diff(want, tree); diff != "" {
		t.Error(diff)
	}
	for _, metric := range [][]string{
		{"delegraph_transfers_total", "from_agent", "concierge"},
		{"delegraph_tool_call_failures_total", "tool", "refund"},
		{"delegraph_internal_events_total", "source", "helpdesk"},
		{"delegraph_events_total", "dialect", "custom"},
	} {
		if service.Count(t, metric[0], metric[1:]...) == 0 {
			t.Errorf("%s is 0", metric)
		}
	}
	for _, as := range []string{"", "?format=normalized"} {
		frames := service.EventsOfRun(t, as)
		if !strings.Contains(frames, "The parcel is on its way.") || !strings.Contains(frames, "billing") {
			t.Errorf("%s: %s", as, frames)
		}
		for _, secret := range []string{"secret", "4111 1111", "DE-99", "LIMIT_EXCEEDED", "paid twice", "shard", "debug", "large-2", "540"} {
			if strings.Contains(frames, secret) {
				t.Errorf("%s: the public got %s", as, secret)
			}
		}
	}
}

// TestHomeGrownAgentFailsClosed sends frames that call themselves internal, and an unreadable one, on the mapping's path and on
// others.
func TestHomeGrownAgentFailsClosed(t *testing.T) {
	service, _ := launchHomeGrown(t, "ping: {means: other}", "internal:rank: {means: answer, paths: {text: text}}")
	mapped := `data: {"kind":"internal:rank","text":"CANARY"}`
	for _, path := range []string{"/chat", "/news", "/run_sse"} {
		for _, canary := range append(canaries, mapped) {
			if got := service.Chat(t, path, canary+"\n\n"); strings.Contains(got, "CANARY") {
				t.Errorf("%s: %q passes", path, canary)
			}
		}
	}
	for _, unmapped := range []string{brokenFrame, `data: {"kind":"audit","x":"CANARY"}`, "event: say\ndata: {\"x\":\"CANARY\"}", `data: {"kind":["say"],"text":"CANARY"}`} {
		if got := service.Chat(t, "/chat", unmapped+"\n\n"); strings.Contains(got, "CANARY") {
			t.Errorf("%q passes", unmapped)
		}
	}
}

// TestReloadOfMapping changes the meaning of a frame type: the next stream is decoded by the new mapping, and an invalid mapping
// is refused.
func TestReloadOfMapping(t *testing.T) {
	service, text := launchHomeGrown(t)
	const audit = "data: {\"kind\":\"audit\",\"text\":\"hello\"}\n\n"
	if got := service.Chat(t, "/chat", audit); got != "" {
		t.Errorf("an unmapped frame passes: %q", got)
	}
	err := service.Change(t, strings.Replace(text, "ping: {means: other}", "audit: {means: anser}", 1))
	if err == nil || !strings.Contains(err.Error(), `did you mean "answer"?`) {
		t.Errorf("a bad mapping: %v", err)
	}
	if err := service.Change(t, strings.Replace(text, "ping: {means: other}", "audit: {means: answer, paths: {text: text}}", 1)); err != nil {
		t.Fatal(err)
	}
	if got := service.Chat(t, "/chat", audit); got != audit {
		t.Errorf("a mapped frame does not pass: %q", got)
	}
}

// TestDocumentationOfMappings compares the list of meanings with the page, and rewrites it with -update.
func TestDocumentationOfMappings(t *testing.T) {
	const page, begin, end = "../../../docs/how-to/custom-dialect.md", "<!-- written by: go test ./test/e2e/relay -run TestDocumentationOfMappings -update -->\n\n", "\n<!-- end -->"
	text := readText(t, page)
	var list strings.Builder
	for _, m := range custom.Meanings() {
		takes := namesOf(m.Required, ", ")
		if len(m.Optional) > 0 {
			takes = strings.TrimPrefix(takes+", perhaps ", ", ") + namesOf(m.Optional, ", ")
		}
		if takes != "" {
			takes = " (" + takes + ")"
		}
		fmt.Fprintf(&list, "- `%s`%s: %s\n", m.Name, takes, m.Description)
	}
	at := strings.Index(text, begin) + len(begin)
	text = text[:at] + list.String() + text[at+strings.Index(text[at:], end):]
	if *harness.Update {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(readText(t, page), text); diff != "" {
		t.Error(diff)
	}
}

// namesOf quotes names; "a|b" means either of the two.
func namesOf(names []string, between string) string {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, "`"+strings.ReplaceAll(name, "|", "` or `")+"`")
	}
	return strings.Join(quoted, between)
}
