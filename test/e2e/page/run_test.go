package page_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

const (
	operations = `document.querySelectorAll("#operations tr[id^=row-]").length`
	opened     = `document.querySelector("#operations .selected .called")?.innerText`
)

// growingAgent is an agent with one run, which sends a frame for each text that it gets. It calls a tool in each frame.
func growingAgent(t *testing.T) (agent *httptest.Server, frames chan string) {
	t.Helper()
	frames = make(chan string)
	agent = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for frame := range frames {
			_, _ = io.WriteString(w, "data: "+frame+"\n\n")
			_ = http.NewResponseController(w).Flush()
		}
	}))
	t.Cleanup(agent.Close)
	return agent, frames
}

func callFrame(n int) string {
	return fmt.Sprintf(`{"invocationId":"e-1","author":"planner","id":"%d","modelVersion":"gemini","content":{"role":"model","parts":[{"functionCall":{"id":"c%[1]d","name":"tool_%[1]d","args":{}}}]}}`, n)
}

func answerFrame(n int, response string) string {
	return fmt.Sprintf(`{"invocationId":"e-1","author":"planner","id":"r%d","content":{"role":"user","parts":[{"functionResponse":{"id":"c%[1]d","name":"tool_%[1]d","response":%s}}]}}`, n, response)
}

// TestRunPage uses the page of a run that grows: its details by mouse, keys and address, in place and without script.
func TestRunPage(t *testing.T) {
	b := newBrowser(t)
	agent, frames := growingAgent(t)
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	pages := httptest.NewServer(service.Admin)
	t.Cleanup(pages.Close)
	t.Cleanup(pages.CloseClientConnections)
	over := make(chan struct{})
	go func() {
		defer close(over)
		harness.Post(t, service.Address(), adkserver.RunRequest("u", "s", "hello", true), nil)
	}()
	for n := range 30 {
		frames <- callFrame(n)
		frames <- answerFrame(n, `{"ok":true}`)
	}
	var run string
	b.open(pages.URL+"/", nil)
	b.until(rows + " === 1")
	run = pages.URL + "/" + regexp.MustCompile(`runs/[0-9a-f]{8}-\d+`).FindString(fetchBody(t, pages.URL+"/"))

	t.Run("a click opens and closes details in place", func(t *testing.T) {
		b.t = t
		b.open(run, nil)
		b.until(alive + " && " + operations + " > 30")
		b.text(`globalThis.stayed = "yes"`)
		b.text(`[...document.querySelectorAll("#operations a.called")].find((a) => a.innerText === "tool_3").click()`)
		b.until(`document.querySelector("#details")`)
		if got := b.text(opened); got != "tool_3" || !strings.Contains(b.text("location.search"), "?op=") {
			t.Errorf("%q is open at %s", got, b.text("location.href"))
		}
		if text := b.text(`document.querySelector("#details").innerText`); !strings.Contains(text, "c3") || !strings.Contains(text, "rule T1") {
			t.Errorf("its details are %s", text)
		}
		b.text("history.back()")
		b.until(`!document.querySelector("#details")`)
		if b.text("globalThis.stayed") != "yes" {
			t.Error("the page was loaded again")
		}
		b.sound(pages.URL, desktop)
	})
	t.Run("keys move, open and close", func(t *testing.T) {
		b.t = t
		focused := `document.activeElement.innerText`
		press := func(key string) { b.do(browserCommand{"deed": "press", "key": key}, nil) }
		b.text(`document.querySelector("#operations a.called").focus()`)
		press("ArrowDown")
		press("ArrowDown")
		second := b.text(focused)
		press("Enter")
		b.until(`document.querySelector("#details")`)
		b.until(focused + " === " + opened)
		if got := b.text(opened); got != second {
			t.Errorf("Enter at %q opened %q", second, got)
		}
		press("End")
		last := b.text(focused)
		press("ArrowUp")
		press("Home")
		if first := b.text(focused); first == last || last == second {
			t.Errorf("the rows are %q, %q and %q", first, second, last)
		}
		press("Escape")
		b.until(`!document.querySelector("#details")`)
	})
	t.Run("a growing run keeps what the reader does", func(t *testing.T) {
		b.t = t
		b.text(`[...document.querySelectorAll("#operations a.called")].find((a) => a.innerText === "tool_20").click()`)
		b.until(`document.querySelector("#details") && document.activeElement.innerText === "tool_20"`)
		b.text(`document.querySelector("details").open = true, scrollTo(0, 500), getSelection().selectAllChildren(document.querySelector("#details dd"))`)
		const seen = `Math.round(document.querySelector("#operations .selected").getBoundingClientRect().top) + " " + getSelection() + " " + document.activeElement.innerText`
		before := b.text(seen)
		frames <- callFrame(30)
		frames <- answerFrame(30, `{"error":"no such place"}`)
		b.until(`document.querySelector("#operations").innerText.includes("tool_30")`)
		if after := b.text(seen); after != before {
			t.Errorf("from %q it became %q", before, after)
		}
		if b.text(opened) != "tool_20" || b.number(`document.querySelectorAll("details[open]").length`) != 1 {
			t.Errorf("%q is open", b.text(opened))
		}
		b.until(`document.querySelector(".failures")`)
		b.text(`document.querySelector(".failures a").click()`)
		b.until(opened + ` === "tool_30"`)
		b.sound(pages.URL, desktop)
	})
	close(frames)
	<-over
	shared := b.text("location.href")
	t.Run("the address of an operation, on every screen", func(t *testing.T) {
		b.t = t
		for _, how := range []browserCommand{
			{"script": false}, {"width": phone}, {"width": phone, "dark": true}, {"contrast": "more"}, {"contrast": "more", "dark": true}, {"forced": true},
		} {
			b.open(shared, how)
			if how["script"] == nil {
				b.until(alive)
				width, _ := how["width"].(int)
				if width == 0 {
					width = desktop
				}
				b.sound(pages.URL, width)
			}
			if got := b.text(opened); got != "tool_30" {
				t.Errorf("%v: %q is open", how, got)
			}
		}
	})
}
