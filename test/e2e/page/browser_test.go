package page_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/test/component"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/subprocess"
)

// browser is Chromium with one page.
type browser struct {
	t       testing.TB
	input   io.Writer
	answers *json.Decoder
}

// browserCommand is a command for the browser, as listed in testdata/readers/page.mjs of the harness.
type browserCommand map[string]any

func newBrowser(t testing.TB) *browser {
	t.Helper()
	command := subprocess.CommandContext(t.Context(), harness.Program(t, "node", "readers"), "page.mjs", harness.Program(t, "chromium", "readers"))
	command.Dir = harness.ReaderScripts(t)
	if _, err := os.Stat(command.Dir + "/node_modules/axe-core"); err != nil {
		component.Missing(t, "the npm package axe-core is not there: run .ci/install/readers")
	}
	var complaints bytes.Buffer
	command.Stderr = &complaints
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	command.WaitDelay = 10 * time.Second
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		input.Close() // asks it to end; the end of the test's context kills it
		_ = command.Wait()
		if t.Failed() {
			t.Logf("page.mjs said: %s", &complaints)
		}
	})
	return &browser{t, input, json.NewDecoder(output)}
}

// do runs a command and decodes the answer into a value, if given.
func (b *browser) do(d browserCommand, into any) {
	b.t.Helper()
	line, err := json.Marshal(d)
	if err != nil {
		b.t.Fatal(err)
	}
	var got struct {
		Answer json.RawMessage
		Error  string
	}
	if _, err := b.input.Write(append(line, '\n')); err != nil {
		b.t.Fatal(err)
	}
	if err := b.answers.Decode(&got); err != nil {
		b.t.Fatalf("%s: %v", line, err)
	}
	if got.Error != "" {
		b.t.Fatalf("%s: %s", line, got.Error)
	}
	if into != nil {
		if err := json.Unmarshal(got.Answer, into); err != nil {
			b.t.Fatalf("%s: %s: %v", line, got.Answer, err)
		}
	}
}

// open opens a page in a fresh context with a width, color scheme and script setting.
func (b *browser) open(url string, how browserCommand) {
	b.t.Helper()
	if how == nil {
		how = browserCommand{}
	}
	how["deed"], how["url"] = "open", url
	var status int
	if b.do(how, &status); status != 200 {
		b.t.Fatalf("%s: %d", url, status)
	}
}

// until waits until an expression is true in the page.
func (b *browser) until(code string) {
	b.t.Helper()
	b.do(browserCommand{"deed": "until", "code": code}, nil)
}

// number returns the value of an expression in the page.
func (b *browser) number(code string) (n int) {
	b.t.Helper()
	b.do(browserCommand{"deed": "see", "code": "(async () => Math.round(" + code + "))()"}, &n)
	return n
}

// text returns the value of an expression in the page.
func (b *browser) text(code string) (s string) {
	b.t.Helper()
	b.do(browserCommand{"deed": "see", "code": "String(" + code + ")"}, &s)
	return s
}

// sound checks that the page has no console message, no request to another host, no accessibility violation and nothing wider
// than the screen.
func (b *browser) sound(host string, width int) {
	b.t.Helper()
	var said, requests, violations []string
	b.do(browserCommand{"deed": "said"}, &said)
	b.do(browserCommand{"deed": "requests"}, &requests)
	b.do(browserCommand{"deed": "axe"}, &violations)
	for _, s := range said {
		b.t.Errorf("the console says %s", s)
	}
	for _, r := range requests {
		if !strings.HasPrefix(r, host) {
			b.t.Errorf("the page asks for %s", r)
		}
	}
	for _, v := range violations {
		b.t.Errorf("axe: %s", v)
	}
	if wide := b.number("document.documentElement.scrollWidth"); wide > width {
		b.t.Errorf("on a screen of %d the page is %d wide", width, wide)
	}
}

// hostileNames are names that an agent may give itself and its tools.
var hostileNames = []string{
	`<script>alert("script")</script>`, `</td></tr></table><img src=x onerror=alert("image")>`, `"><b onmouseover=alert(1)>`,
	"\u202egnp.exe", "\x1b[31mred\x07", strings.Repeat("long ", 1<<18), "שלום", "javascript:alert(1)", "{{.}}", "a\u2028b",
}

func hostileConfig(upstream string) string {
	return `
stream: {listen: ""}
web: {trace_url: "http://localhost:16686/trace/` + config.TraceID + `"}
sources: [{name: agent, proxy: {listen: "127.0.0.1:0", upstream: "` + upstream + `"}}]
`
}
