package page_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/internal/command"
)

// TestReplayPageInBrowser opens the page of several recordings in a browser, wide and narrow, light and dark. The
// console must stay empty. The page must make no requests, be accessible and fit the screen.
func TestReplayPageInBrowser(t *testing.T) {
	withoutTelemetry(t)
	file := filepath.Join(t.TempDir(), "page.html")
	arguments := []string{"replay", "--html=" + file, "../../agents/adk-go/transfer.sse", "../../../collector/dialect/adk/testdata/made-questions.sse"}
	recordings, err := filepath.Glob("../../../internal/demo/recordings/*.sse")
	if err != nil || len(recordings) == 0 {
		t.Fatal(err)
	}
	if err := command.Run(t.Context(), append(arguments, recordings...), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/page.html" {
			t.Errorf("the browser asks for %s", r.URL)
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(content)
	}))
	t.Cleanup(server.Close)
	b := newBrowser(t)
	for name, screen := range map[string]struct {
		width int
		dark  bool
	}{"wide": {1280, false}, "narrow": {360, true}} {
		t.Run(name, func(t *testing.T) {
			b.open(server.URL+"/page.html", browserCommand{"width": screen.width, "dark": screen.dark})
			b.sound(server.URL+"/page.html", screen.width)
			if n := b.number(`document.querySelectorAll("table.runs tbody tr").length`); n < len(recordings) || n != b.number(`document.querySelectorAll("table.waterfall").length`) {
				t.Errorf("the page has %d runs of %d recordings", n, len(recordings)+2)
			}
			if style := b.text(`getComputedStyle(document.body).margin`); style != "0px" {
				t.Errorf("the style sheet is not applied: the margin is %s", style)
			}
			var at string
			if b.do(browserCommand{"deed": "click", "selector": "table.runs tbody a"}, &at); !strings.Contains(at, "/page.html#r") {
				t.Errorf("a link of the list leads to %s", at)
			}
		})
	}
}
