package main

import (
	"bufio"
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
)

// The example of docs/how-to/custom-dialect.md and what its agent sends.
const (
	homeGrown       = "../../collector/dialect/custom/testdata/delegraph.yml"
	homeGrownStream = "../../collector/dialect/custom/testdata/helpdesk.sse"
)

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// launchHomeGrown runs the example in front of an agent that answers on any path with what it is sent, or with the example's stream.
func launchHomeGrown(t *testing.T, change ...string) (car *onFile, text string) {
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
	return launchOn(t, text, map[string]string{"OTEL_TRACES_EXPORTER": "none"}), text
}

// chat asks for a run, with what the agent is to answer, and returns the answer.
func (f *onFile) chat(t *testing.T, path, say string) string {
	t.Helper()
	resp, err := http.Post(f.address()+path, "text/plain", strings.NewReader(say))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(got)
}

// TestHomeGrownAgent sends the stream of a home-grown agent through a proxy: its client gets the mapped frames, the public less of them, and
// there are operations and metrics as of any other agent.
func TestHomeGrownAgent(t *testing.T) {
	car, _ := launchHomeGrown(t)
	got := car.chat(t, "/chat", "")
	for _, secret := range []string{"internal:rank", "secret ranking", "secret audit", `"debug"`} {
		if strings.Contains(got, secret) {
			t.Errorf("the client got %s", secret)
		}
	}
	if n := strings.Count(got, "data: "); n != 24 || !strings.Contains(got, `"shard":"eu-3"`) || !strings.Contains(got, "4111 1111") {
		t.Errorf("the client got %d frames:\n%s", n, got)
	}
	await(t, func(context.Context) error {
		if n := car.runs(t, "helpdesk"); n != 1 {
			return fmt.Errorf("%d runs", n)
		}
		return nil
	})
	var tree []string
	for _, op := range car.Recent.Reports()[0].Operations {
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
		if car.count(t, metric[0], metric[1:]...) == 0 {
			t.Errorf("%s is 0", metric)
		}
	}
	for _, as := range []string{"", "?format=normalized"} {
		frames := car.eventsOfRun(t, as)
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

// eventsOfRun returns what the external stream has, up to the end of the run.
func (f *onFile) eventsOfRun(t *testing.T, query string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+f.StreamAddr()+"/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Last-Event-ID", "0")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all strings.Builder
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		all.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), `"done"`) || strings.Contains(lines.Text(), "run_ended") {
			break
		}
	}
	return all.String()
}

// TestHomeGrownAgentFailsClosed sends frames that call themselves internal, and one that nobody can read, on the mapping's path and on others.
func TestHomeGrownAgentFailsClosed(t *testing.T) {
	car, _ := launchHomeGrown(t, "ping: {means: other}", "internal:rank: {means: answer, paths: {text: text}}")
	mapped := `data: {"kind":"internal:rank","text":"CANARY"}`
	for _, path := range []string{"/chat", "/news", "/run_sse"} {
		for _, canary := range append(canaries, mapped) {
			if got := car.chat(t, path, canary+"\n\n"); strings.Contains(got, "CANARY") {
				t.Errorf("%s: %q passes", path, canary)
			}
		}
	}
	for _, unmapped := range []string{brokenFrame, `data: {"kind":"audit","x":"CANARY"}`, "event: say\ndata: {\"x\":\"CANARY\"}", `data: {"kind":["say"],"text":"CANARY"}`} {
		if got := car.chat(t, "/chat", unmapped+"\n\n"); strings.Contains(got, "CANARY") {
			t.Errorf("%q passes", unmapped)
		}
	}
}

// TestReloadOfMapping changes what a type of frame means: the next stream is read by the new mapping, and a bad one is refused.
func TestReloadOfMapping(t *testing.T) {
	car, text := launchHomeGrown(t)
	const audit = "data: {\"kind\":\"audit\",\"text\":\"hello\"}\n\n"
	if got := car.chat(t, "/chat", audit); got != "" {
		t.Errorf("what is not mapped passes: %q", got)
	}
	err := car.change(t, strings.Replace(text, "ping: {means: other}", "audit: {means: anser}", 1))
	if err == nil || !strings.Contains(err.Error(), `did you mean "answer"?`) {
		t.Errorf("a bad mapping: %v", err)
	}
	if err := car.change(t, strings.Replace(text, "ping: {means: other}", "audit: {means: answer, paths: {text: text}}", 1)); err != nil {
		t.Fatal(err)
	}
	if got := car.chat(t, "/chat", audit); got != audit {
		t.Errorf("what is mapped now does not pass: %q", got)
	}
}

// TestDocumentationOfMappings writes the table of meanings and the example into the page, with the flag -update.
func TestDocumentationOfMappings(t *testing.T) {
	const page, begin, end = "../../docs/how-to/custom-dialect.md", "<!-- written by: go test ./cmd/delegraph -run TestDocumentationOfMappings -update -->\n\n", "\n<!-- end -->"
	text := readText(t, page)
	write := func(of string, n int) {
		at := 0
		for range n {
			at += strings.Index(text[at:], begin) + len(begin)
		}
		text = text[:at] + of + text[at+strings.Index(text[at:], end):]
	}
	write("```yaml\n"+readText(t, homeGrown)+"```\n", 1)
	var table strings.Builder
	table.WriteString("| `means` | what it says | needs | may have |\n|-|-|-|-|\n")
	for _, m := range custom.Meanings() {
		fmt.Fprintf(&table, "| `%s` | %s | %s | %s |\n", m.Name, m.Says, namesOf(m.Needs, ", "), namesOf(m.Takes, ", "))
	}
	write(table.String(), 2)
	if *update {
		if err := os.WriteFile(page, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(readText(t, page), text); diff != "" {
		t.Error(diff)
	}
}

// namesOf quotes names; "a|b" is either of the two.
func namesOf(names []string, between string) string {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, "`"+strings.ReplaceAll(name, "|", "` or `")+"`")
	}
	return strings.Join(quoted, between)
}
