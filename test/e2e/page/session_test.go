package page_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// newConfirmingAgent serves recordings of one conversation: a run that asks for a confirmation, the run that gets it, and a run that fails.
func newConfirmingAgent(t *testing.T) *httptest.Server {
	t.Helper()
	asked := 0
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		names := []string{"confirmation", "confirmation.answered", "model_error"}
		said, err := os.ReadFile("../../../collector/dialect/adk/adkserver/testdata/captures/python/" + names[asked%len(names)] + ".sse")
		asked++
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write(said)
	}))
	t.Cleanup(agent.Close)
	return agent
}

// TestSessionPage opens a conversation of three runs, whose session id is hostile, from one of its runs.
func TestSessionPage(t *testing.T) {
	b := newBrowser(t)
	session := hostileNames[1] + "&id=\u202e?#%2F+ "
	agent := newConfirmingAgent(t)
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	pages := httptest.NewServer(service.Admin)
	t.Cleanup(pages.Close)
	t.Cleanup(pages.CloseClientConnections)
	harness.AskOK(t, service, adkserver.RunRequest("u", session, "delete the folder", false))
	service.Wait()

	b.open(pages.URL+"/", nil)
	b.do(browserCommand{"deed": "click", "selector": "#rows a"}, nil)
	b.do(browserCommand{"deed": "click", "selector": ".facts a"}, nil)
	b.until(alive)
	if text := b.text(`document.querySelector("#rows").innerText`); !strings.Contains(text, "confirmation: open, and no kept run resumed this one") {
		t.Errorf("while nobody has answered: %s", text)
	}
	b.text(`globalThis.stayed = "yes"`)
	harness.AskOK(t, service, adkserver.AnswerRequest("u", session, "adk-d3e460c9-2af9-4258-a6c3-e9f47989bffa", "adk_request_confirmation", map[string]any{"confirmed": true}))
	service.Wait()
	b.until(rows + " === 2")
	harness.AskOK(t, service, adkserver.RunRequest("u", session, "delete it again", false))
	service.Wait()
	b.until(rows + " === 3")
	if b.text("globalThis.stayed") != "yes" {
		t.Error("the page was loaded again")
	}
	url := b.text("location.href")
	for _, width := range []int{phone, desktop} {
		for _, dark := range []bool{false, true} {
			b.open(url, browserCommand{"width": width, "dark": dark})
			b.until(alive)
			b.sound(pages.URL, width)
			checkSession(t, b, session)
		}
	}
	b.open(url, browserCommand{"script": false, "width": phone})
	checkSession(t, b, session)
	for selector, title := range map[string]string{"#rows tr:nth-child(2) small a": "Requested input", ".waterfall a": "Requested input"} {
		b.open(url, nil)
		b.do(browserCommand{"deed": "click", "selector": selector}, nil)
		if text := b.text("document.body.innerText"); !strings.Contains(text, title) {
			t.Errorf("%s leads to %s", selector, text)
		}
	}
}

// checkSession checks what the page of the conversation shows.
func checkSession(t *testing.T, b *browser, session string) {
	t.Helper()
	text := strings.Join(strings.Fields(b.text("document.body.innerText")), " ")
	for _, want := range []string{
		"Session " + strings.ReplaceAll(strings.TrimSpace(session), "\u202e", "\ufffd"), "3 runs in ", ": 1 completed, 1 failed, 1 interrupted.",
		"waits for a confirmation", "no run", "confirmation: open at the end; resumed by the run of ", "after the request", "resumes the run of ", "agent coordinator: UNAVAILABLE",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s", want, text)
		}
	}
	if n := b.number(`document.querySelectorAll("main img, main script, main [onerror]").length`); n != 0 {
		t.Errorf("the session's id made %d elements", n)
	}
	if n := b.number(`document.querySelectorAll(".waterfall tbody tr").length`); n != 5 {
		t.Errorf("the time axis has %d rows, want three runs and two times between them", n)
	}
}
