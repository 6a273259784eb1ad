package page_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/test/component"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestChatPage has a page with the AI SDK's hook useChat ask a real server directly and through a filtered relay: people see the same.
func TestChatPage(t *testing.T) {
	home := harness.ServersHome(t)
	if !harness.IsInstalled(t, home, "vercel") {
		component.Missing(t, "no vercel in "+home+": run .ci/install/servers vercel")
	}
	agent := harness.ServeReal(t, home, "vercel")
	service := harness.Launch(t, fmt.Sprintf(chatProxy, agent), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	b := newBrowser(t)
	direct, through := chat(b, agent), chat(b, service.Address())
	if diff := cmp.Diff(direct, through); diff != "" {
		t.Errorf("directly and through the relay: %s", diff)
	}
	service.Stop()
	if errors := service.Count(t, "delegraph_parse_errors_total"); errors > 0 {
		t.Errorf("%g parse errors", errors)
	}
	var statuses []string
	for _, run := range service.Recent.Reports() {
		statuses = append(statuses, string(run.Status))
	}
	want := []string{"canceled", "completed", "failed", "completed", "interrupted", "completed", "completed"} // the latest first
	if diff := cmp.Diff(want, statuses); diff != "" {
		t.Errorf("runs (-want +got): %s", diff)
	}
}

const chatProxy = `
sources:
  - {name: app, proxy: {listen: "127.0.0.1:0", upstream: %q}}
`

// chat talks to a server by its page, and returns what the page shows after each turn.
func chat(b *browser, url string) (shown []string) {
	b.t.Helper()
	note := func() {
		b.t.Helper()
		b.until(`["ready", "error"].includes(window.chat?.status)`)
		told := b.text(`JSON.stringify(window.chat.messages.map(({role, parts, metadata}) => ({role, parts, metadata}))) + " " + window.chat.status + " " + (window.chat.error?.message ?? "")`)
		shown = append(shown, chance.ReplaceAllString(told, "ID"))
	}
	say := func(text string) {
		b.t.Helper()
		b.until(`["ready", "error"].includes(window.chat?.status)`)
		before := b.number("window.chat.messages.length")
		b.text(fmt.Sprintf(`void window.chat.sendMessage({ text: %q })`, text))
		b.until(fmt.Sprintf("window.chat.messages.length > %d", before)) // it shows the question and is no longer ready
	}
	b.open(url+"/page#chat-page", nil)
	say("Hello there.")
	note()
	say("call weather {\"city\":\"Rome\"} & call weather {\"city\":\"Oslo\"}\nSunny, both.")
	note()
	say("call pay {\"amount\":5}\nPaid.")
	note()
	b.text(`void window.chat.addToolApprovalResponse({ id: window.chat.messages.at(-1).parts.find(({ state }) => state === "approval-requested").approval.id, approved: true })`)
	b.until(`JSON.stringify(window.chat.messages).includes("Paid. ")`)
	note()
	say("fail")
	note()

	b.open(url+"/page#chat-stopped", nil)
	say("slow")
	b.until(`JSON.stringify(window.chat.messages).includes("word word ")`)
	b.text(`void window.chat.stop()`)
	b.until(`window.chat.status === "ready"`)

	b.open(url+"/page#chat-resumed", nil)
	say("slow")
	b.until(`JSON.stringify(window.chat.messages).includes("word word ")`)
	b.open(url+"/page?again#chat-resumed!", nil) // as if the person had loaded the page again
	b.until(`JSON.stringify(window.chat?.messages ?? "").includes('"state":"done"')`)
	note()
	return shown
}

// chance matches IDs that differ each time.
var chance = regexp.MustCompile(`call_\w+|aitxt-\w+|message-\d+`)
