package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

func export(t *testing.T, runs *recent.Runs, total int) (page string, root *html.Node) {
	t.Helper()
	var out bytes.Buffer
	if err := (Export{Runs: runs, Total: total, Version: "1.2.3"}).Write(&out); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), root
}

// TestExport checks that an exported page has the list and each run once, with links within the page only.
func TestExport(t *testing.T) {
	first, second := sampleRun(), sampleRun()
	second.Trace, second.Root = [16]byte{0xcd}, first.Operations[0]
	second.Links = []tracker.Link{{Kind: "resumes", Run: "e-1", Root: first.Root.ID}}
	page, root := export(t, runsOf(first, second), 3)
	for want, times := range map[string]int{
		"<h1>2 replayed runs</h1>": 1, `href="#r1"`: 1, "Where the time went": 2, `<table class="runs"`: 1, "NOT_FOUND": 2,
		`<div id="r1"`: 1, `<div id="r2"`: 1, "1 more run left out": 1, "83 %": 2, `<pattern id="hatch"`: 1, "Delegraph 1.2.3": 1,
	} {
		if got := strings.Count(page, want); got < times || strings.HasPrefix(want, "<") && got != times {
			t.Errorf("%s is %d times in the page, want %d:\n%s", want, got, times, page)
		}
	}
	checkAlone(t, root)
	if page, _ := export(t, runsOf(), 0); !strings.Contains(page, "<h1>0 replayed runs</h1>") || strings.Contains(page, "left out") {
		t.Errorf("without a run: %s", page)
	}
}

// TestExportLongRun checks that a run with more operations than a page shows says so.
func TestExportLongRun(t *testing.T) {
	long := sampleRun()
	for i := range maxRows {
		long.Operations = append(long.Operations, &tracker.Operation{ID: tracker.SpanID{9, byte(i), byte(i >> 8)}, Parent: long.Root.ID, Kind: tracker.ExecuteTool, Name: "again"})
	}
	page, root := export(t, runsOf(long), 1)
	checkAlone(t, root)
	if !strings.Contains(page, "4 more operations") {
		t.Error("the page does not say that it leaves out operations")
	}
}

// checkAlone checks that a page refers to nothing outside itself, that its ids are unique, and that its policy permits its style only.
func checkAlone(t *testing.T, root *html.Node) {
	t.Helper()
	ids, references := map[string]int{}, []string{}
	policy, style := "", ""
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script", "img", "iframe", "object", "embed", "form", "audio", "video", "base":
			t.Errorf("the page has the element %s", n.Data)
		case "style":
			style += n.FirstChild.Data
		case "meta":
			if attribute(n, "http-equiv") == "Content-Security-Policy" {
				policy = attribute(n, "content")
			}
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "id":
				ids[a.Val]++
			case a.Key == "href" && a.Val == "data:,": // an empty icon, so that browsers ask for none
			case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
				references = append(references, a.Val[1:])
			case a.Key == "aria-labelledby":
				references = append(references, strings.Fields(a.Val)...)
			case strings.HasPrefix(a.Val, "url(#"):
				references = append(references, strings.TrimSuffix(strings.TrimPrefix(a.Val, "url(#"), ")"))
			case slices.Contains([]string{"href", "src", "srcset", "action", "style"}, a.Key), strings.HasPrefix(a.Key, "on"), strings.Contains(a.Val, "url("):
				t.Errorf("the element %s has %s=%q", n.Data, a.Key, a.Val)
			}
		}
	}
	for id, times := range ids {
		if times > 1 || id == "" {
			t.Errorf("the id %q is there %d times", id, times)
		}
	}
	for _, id := range references {
		if ids[id] == 0 {
			t.Errorf("no element has the id %s", id)
		}
	}
	for _, found := range regexp.MustCompile(`url\(([^)]*)\)|@import|https?:`).FindAllString(style, -1) {
		if !strings.HasPrefix(found, "url(#hatch") {
			t.Errorf("the style refers to %s", found)
		}
	}
	sum := sha256.Sum256([]byte(style))
	if want := "style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, "default-src 'none'; "+want+";") {
		t.Errorf("the policy %q does not have %s", policy, want)
	}
}

// TestExportHostile checks that hostile names stay text in an exported page.
func TestExportHostile(t *testing.T) {
	for about, c := range hostile {
		_, root := export(t, runsOf(run(c.sent)), 1)
		checkAlone(t, root)
		for n := range root.Descendants() {
			if n.Type == html.ElementNode && slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return strings.HasPrefix(a.Key, "on") }) {
				t.Errorf("%s becomes an element with a script", about)
			}
		}
	}
}

// TestExportedLinks checks that links to runs that are left out become text, also in the runs before them.
func TestExportedLinks(t *testing.T) {
	older, newer := run("older"), run("newer")
	newer.Root.ID = tracker.SpanID{2}
	newer.Links = []tracker.Link{{Kind: "resumes", Run: "older", Root: older.Root.ID}}
	runs := runsOf(older, newer)
	s := Settings{Runs: runs, Now: time.Now, Logger: slog.New(slog.DiscardHandler)}
	page := &exportedPage{anchors: map[string]string{}, hatches: map[string]bool{}}
	for limit, want := range map[int]int{0: 1, maxExportedBytes: 2} {
		parts, err := page.runs(s.run, runs.Page(recent.Query{Limit: 2}, false).Runs, limit)
		if err != nil || len(parts) != want || strings.Contains(string(parts[0]), `href="#r2"`) != (want == 2) {
			t.Errorf("%d parts, want %d, %v:\n%s", len(parts), want, err, parts[0])
		}
	}
}

// TestExportIsBounded checks that a page has at most MaxExported runs and says how many it leaves out.
func TestExportIsBounded(t *testing.T) {
	runs := recent.New(2*MaxExported, 64<<20)
	for i := range MaxExported + 5 {
		r := run(fmt.Sprintf("run-%d", i))
		r.Root.ID = tracker.SpanID{byte(i), byte(i >> 8), 1}
		runs.RunStarted(r)
		runs.RunEnded(r)
	}
	page, root := export(t, runs, MaxExported+5)
	checkAlone(t, root)
	if n := strings.Count(page, "Where the time went"); n != MaxExported || !strings.Contains(page, "5 more runs left out") {
		t.Errorf("the page has %d runs", n)
	}
}
