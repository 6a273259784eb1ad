package page_test

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
	"github.com/delegraph/delegraph/internal/command"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

var picturesFolder = flag.String("pictures", "", "take a picture of every page in every state into this folder, for review")

// TestPictures takes pictures of the pages: with -update those in the documentation, and with -pictures=DIR every state.
func TestPictures(t *testing.T) {
	if !*harness.Update && *picturesFolder == "" {
		t.Skip("run make pictures")
	}
	withoutTelemetry(t)
	p := &photographer{t, newBrowser(t), harness.StartDemo(t, "--speed=2").URL(t)}
	if *harness.Update {
		p.takeDocumentation("../../../docs/pictures")
	}
	if *picturesFolder != "" {
		p.takeReview(*picturesFolder)
	}
}

// photographer takes pictures of pages in Chromium.
type photographer struct {
	t *testing.T
	*browser
	demo string // the URL of the demo's pages
}

// state is a page in one state.
type state struct {
	name, url string
	until     string // an expression that is true when the page shows the state
	before    string // an expression that brings the page into the state
}

const (
	shownList    = alive + ` && document.querySelectorAll("#rows > tr").length >= 10`
	shownRun     = alive + ` && document.querySelector(".waterfall")`
	shownSession = alive + ` && document.querySelectorAll(".session tbody tr").length >= 2`
	mixed        = ` && new Set([...document.querySelectorAll("#rows .status")].slice(0, 7).map((s) => s.innerText)).size >= 4`
	allDetails   = `document.querySelectorAll("details").forEach((d) => { d.open = true })`
)

// takeDocumentation takes the pictures in the documentation, in a size that fits a page of text.
func (p *photographer) takeDocumentation(folder string) {
	p.t.Helper()
	for _, s := range []struct {
		state
		height int
	}{
		{state{name: "run", url: p.first("?status=completed&source=fire-briefing", "cruising_assistant"), until: shownRun}, 735},
		{state{name: "session", url: p.session(), until: shownSession}, 830},
		{state{name: "list", url: p.demo + "?source=fire-briefing", until: alive + mixed}, 880},
	} {
		p.open(s.url, browserCommand{"width": 1180, "height": s.height})
		p.until(s.until)
		p.take(filepath.Join(folder, s.name+".png"), false)
	}
	p.takeTerminal(filepath.Join(folder, "replay.png"))
}

// takeReview takes pictures of every state on a desktop and a phone, in light and dark mode.
func (p *photographer) takeReview(folder string) {
	p.t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		p.t.Fatal(err)
	}
	empty, running := p.startSlowAgent()
	ended := p.first("?status=completed&source=fire-briefing", "cruising_assistant")
	states := []state{
		{name: "list-empty", url: empty, until: `document.querySelector("#none")`},
		{name: "list-no-match", url: p.demo + "?status=canceled&source=air", until: `document.querySelector("#none")`},
		{name: "list-filled", url: p.demo, until: shownList},
		{name: "list-details", url: p.demo, until: shownList + ` && document.querySelector("details")`, before: allDetails},
		{name: "run-ended", url: ended, until: shownRun},
		{name: "run-details", url: ended, until: shownRun, before: allDetails},
		{name: "run-operation", url: p.operation(ended), until: shownRun + ` && document.querySelector("#details")`},
		{name: "run-failed", url: p.first("?status=failed", ""), until: shownRun},
		{name: "run-waits", url: p.first("?status=interrupted&source=fire-briefing", ""), until: shownRun},
		{name: "run-missing", url: p.demo + "runs/none", until: `document.querySelector("h1")`},
		{name: "session", url: p.session(), until: shownSession},
		{name: "session-missing", url: p.demo + "session?source=none&id=none", until: `document.querySelector("h1")`},
		{name: "run-running", until: shownRun},
	}
	for i := range states {
		if states[i].name == "run-running" {
			states[i].url = running()
		}
		for _, width := range []int{desktop, 390} {
			for _, dark := range []bool{false, true} {
				p.takeState(folder, states[i], width, dark)
			}
		}
	}
	p.takeTerminal(filepath.Join(folder, "replay.png"))
}

func (p *photographer) takeState(folder string, s state, width int, dark bool) {
	p.t.Helper()
	name := fmt.Sprintf("%s-%s-%s.png", s.name, map[bool]string{true: "desktop", false: "phone"}[width == desktop], map[bool]string{true: "dark", false: "light"}[dark])
	p.do(browserCommand{"deed": "open", "url": s.url, "width": width, "dark": dark}, nil)
	p.until(s.until)
	if s.before != "" {
		p.text(s.before)
	}
	p.take(filepath.Join(folder, name), true)
}

// first returns the URL of the first run in a list whose row contains a text.
func (p *photographer) first(query, text string) (url string) {
	p.t.Helper()
	p.open(p.demo+query, nil)
	found := fmt.Sprintf(`[...document.querySelectorAll("#rows tr")].find((row) => row.textContent.includes(%q))`, text)
	p.until(alive + " && " + found)
	return p.text(found + `.querySelector("a").href`)
}

// operation returns the URL of the last operation of a run.
func (p *photographer) operation(run string) string {
	p.t.Helper()
	p.open(run, nil)
	p.until(shownRun)
	return p.text(`[...document.querySelectorAll("a.called")].at(-1).href`)
}

// session returns the URL of a session whose second run answers a question of the first.
func (p *photographer) session() string {
	p.t.Helper()
	const resumed = `document.querySelector("#h-links")`
	harness.Await(p.t, func(context.Context) error {
		p.open(p.first("?status=completed&source=tender-analysis", ""), nil)
		if p.text(resumed) == "null" {
			return fmt.Errorf("no run resumes another one")
		}
		return nil
	})
	return p.text(`document.querySelector("a[href*='session?']").href`)
}

// startSlowAgent starts a sidecar in front of an agent that does not finish its answer. It returns the URL of the list, which is empty,
// and a function that makes a run and returns the URL of its page.
func (p *photographer) startSlowAgent() (list string, run func() string) {
	t := p.t
	recording, err := os.ReadFile("../../../internal/demo/recordings/fire-briefing.sse")
	if err != nil {
		t.Fatal(err)
	}
	finish := make(chan struct{})
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		frames := bytes.SplitAfter(recording, []byte("\n\n"))
		_, _ = w.Write(bytes.Join(frames[:len(frames)/2], nil))
		_ = http.NewResponseController(w).Flush()
		<-finish
	}))
	t.Cleanup(agent.Close)
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	pages := httptest.NewServer(service.Admin)
	t.Cleanup(pages.Close)
	t.Cleanup(pages.CloseClientConnections)
	asked := make(chan struct{})
	return pages.URL + "/", func() string {
		go func() {
			defer close(asked)
			harness.Post(t, service.Address(), adkserver.RunRequest("u", "fire-briefing-1", "hello", true), nil)
		}()
		t.Cleanup(func() {
			close(finish)
			<-asked
		})
		p.open(pages.URL+"/", nil)
		p.until(alive + " && " + rows + " === 1")
		return p.text(`document.querySelector("#rows a").href`)
	}
}

// takeTerminal takes a picture of a replay as a terminal shows it.
func (p *photographer) takeTerminal(path string) {
	t := p.t
	t.Helper()
	const file = "internal/demo/recordings/fire-briefing.sse"
	t.Setenv("CLICOLOR_FORCE", "1")
	var shown bytes.Buffer
	shown.WriteString("\x1b[32m$\x1b[0m delegraph replay " + file + "\n")
	if err := command.Run(t.Context(), []string{"replay", "../../../" + file}, &shown, io.Discard); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(shown.String(), "../") {
		t.Fatalf("the output names a file: %s", &shown)
	}
	page := fmt.Sprintf(terminalPage, terminalHTML(shown.String()))
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, page) }))
	t.Cleanup(pages.Close)
	p.open(pages.URL, nil)
	width := p.number(`document.querySelector("pre").getBoundingClientRect().width`)
	p.open(pages.URL, browserCommand{"width": width, "height": 100})
	p.take(path, true)
}

const terminalPage = `<!doctype html><meta charset="utf-8"><style>
body { margin: 0 }
pre { margin: 0; padding: 18px 22px; width: max-content; background: #fff; color: #1b2230; font: 14px/1.3 "DejaVu Sans Mono", monospace }
.c1 { font-weight: bold } .c2 { color: #586174 } .c31 { color: #b3261e } .c32 { color: #17663a } .c33 { color: #7a5200 } .c34 { color: #3b6fd4 } .c35 { color: #8257c9 } .c36 { color: #12857a } .c90 { color: #5f6b7a }
</style><link rel="icon" href="data:,"><pre>%s</pre>`

var terminalColor = regexp.MustCompile(`\x1b\[([0-9;]*)m`)

// terminalHTML converts the output of a program with colors of terminals (ECMA-48, SGR) to HTML.
func terminalHTML(output string) string {
	var out strings.Builder
	opened := false
	for output != "" {
		at := terminalColor.FindStringSubmatchIndex(output)
		if at == nil {
			break
		}
		out.WriteString(html.EscapeString(output[:at[0]]))
		if opened {
			out.WriteString("</span>")
		}
		if opened = strings.Trim(output[at[2]:at[3]], "0;") != ""; opened {
			fmt.Fprintf(&out, `<span class="c%s">`, strings.ReplaceAll(output[at[2]:at[3]], ";", " c"))
		}
		output = output[at[1]:]
	}
	out.WriteString(html.EscapeString(output))
	if opened {
		out.WriteString("</span>")
	}
	return out.String()
}

// TestTerminalHTML checks the conversion of colors.
func TestTerminalHTML(t *testing.T) {
	const want = `a &lt;b&gt; <span class="c1 c34">█ c</span><span class="c31">d</span> e`
	if got := terminalHTML("a <b> \x1b[1;34m█ c\x1b[31md\x1b[0m e"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// take saves what the browser shows, or the whole page, with at most 256 colors.
func (p *photographer) take(path string, whole bool) {
	p.t.Helper()
	absolute, err := filepath.Abs(path)
	if err != nil {
		p.t.Fatal(err)
	}
	p.do(browserCommand{"deed": "picture", "path": absolute, "whole": whole}, nil)
	content, err := os.ReadFile(absolute)
	if err != nil {
		p.t.Fatal(err)
	}
	picture, err := png.Decode(bytes.NewReader(content))
	if err != nil {
		p.t.Fatal(err)
	}
	var small bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, withFewColors(picture)); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(absolute, small.Bytes(), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// withFewColors returns a picture with at most 256 colors. The most frequent colors stay. Every other one becomes the nearest of them,
// which is as near as that number allows.
func withFewColors(picture image.Image) *image.Paletted {
	bounds := picture.Bounds()
	count := map[color.RGBA]int{}
	at := func(x, y int) color.RGBA { return color.RGBAModel.Convert(picture.At(x, y)).(color.RGBA) }
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			count[at(x, y)]++
		}
	}
	all := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a.R, b.R), cmp.Compare(a.G, b.G), cmp.Compare(a.B, b.B))
	})
	palette := newPalette(all)
	out, nearest := image.NewPaletted(bounds, palette), map[color.RGBA]uint8{}
	for _, c := range all {
		nearest[c] = uint8(palette.Index(c))
	}
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			out.SetColorIndex(x, y, nearest[at(x, y)])
		}
	}
	return out
}

// newPalette chooses at most 256 of the given colors so that each of them is near a chosen one. Earlier colors are preferred.
func newPalette(colors []color.RGBA) (palette color.Palette) {
	for distance := 0; ; distance += 4 { // from a chosen color
		palette = palette[:0]
		for _, c := range colors {
			if !slices.ContainsFunc(palette, func(chosen color.Color) bool { return isNear(c, chosen.(color.RGBA), distance) }) {
				palette = append(palette, c)
			}
			if len(palette) > 256 {
				break
			}
		}
		if len(palette) <= 256 {
			return palette
		}
	}
}

func isNear(a, b color.RGBA, distance int) bool {
	between := func(x, y uint8) int { return max(int(x), int(y)) - min(int(x), int(y)) }
	return between(a.R, b.R) <= distance && between(a.G, b.G) <= distance && between(a.B, b.B) <= distance
}

// TestFewColors checks that a picture keeps a rare color among many similar ones, and all colors if they are few.
func TestFewColors(t *testing.T) {
	picture := image.NewRGBA(image.Rect(0, 0, 256, 20))
	for i := range 256 * 20 {
		picture.Set(i%256, i/256, color.RGBA{uint8(i), uint8(i % 251), uint8(i), 255})
	}
	rare := color.RGBA{255, 0, 0, 255}
	picture.Set(0, 0, rare)
	few := withFewColors(picture)
	if len(few.Palette) > 256 || few.At(0, 0) != color.Color(rare) {
		t.Errorf("%d colors; the rare one is %v", len(few.Palette), few.At(0, 0))
	}
	if few := withFewColors(picture.SubImage(image.Rect(0, 0, 3, 1))); len(few.Palette) != 3 {
		t.Errorf("of 3 colors: %v", few.Palette)
	}
}
