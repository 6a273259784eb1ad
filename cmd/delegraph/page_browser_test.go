package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/test/subprocess"
)

// browser is Chromium with one page.
type browser struct {
	t       *testing.T
	input   io.Writer
	answers *json.Decoder
}

// deed is what the browser is to do: testdata/readers/page.mjs has the list.
type deed map[string]any

func newBrowser(t *testing.T) *browser {
	t.Helper()
	command := subprocess.CommandContext(t.Context(), program(t, "node"), "page.mjs", program(t, "chromium"))
	command.Dir = readerScripts(t)
	if _, err := os.Stat(command.Dir + "/node_modules/axe-core"); err != nil {
		lacking(t, "the npm package axe-core is not there: run .ci/install/readers")
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

// do has something done, and reads the answer into the value pointed to, if there is one.
func (b *browser) do(d deed, into any) {
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

// open opens a page in a fresh context, of a width, light or dark, with or without script.
func (b *browser) open(url string, how deed) {
	b.t.Helper()
	if how == nil {
		how = deed{}
	}
	how["deed"], how["url"] = "open", url
	var status int
	if b.do(how, &status); status != 200 {
		b.t.Fatalf("%s: %d", url, status)
	}
}

// until waits for an expression to be true in the page.
func (b *browser) until(code string) {
	b.t.Helper()
	b.do(deed{"deed": "until", "code": code}, nil)
}

// number is an expression's value in the page.
func (b *browser) number(code string) (n int) {
	b.t.Helper()
	b.do(deed{"deed": "see", "code": "Math.round(" + code + ")"}, &n)
	return n
}

// text is an expression's value in the page.
func (b *browser) text(code string) (s string) {
	b.t.Helper()
	b.do(deed{"deed": "see", "code": "String(" + code + ")"}, &s)
	return s
}

// sound says that the page has no fault: nothing on the console, no request to another host, no violation of the rules of
// accessibility, nothing wider than the screen.
func (b *browser) sound(host string, width int) {
	b.t.Helper()
	var said, requests, violations []string
	b.do(deed{"deed": "said"}, &said)
	b.do(deed{"deed": "requests"}, &requests)
	b.do(deed{"deed": "axe"}, &violations)
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

// hostileNames are what an agent may call itself and its tools.
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
