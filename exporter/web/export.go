package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/html"

	"github.com/delegraph/delegraph/exporter/recent"
)

// Limits of an exported page.
const (
	MaxExported      = 200      // runs
	maxExportedBytes = 32 << 20 // of the runs' parts
)

// Export is the content of an exported page.
type Export struct {
	Runs    *recent.Runs
	Total   int // number of all runs, including those that Runs has evicted
	Version string
}

// exportStyle makes the headings look like those of the server's pages, which are one level higher.
const exportStyle = `
main > div > .head { margin-top: 48px; padding-top: 32px; border-top: 1px solid var(--line) }
main > div > .head h2 { font-size: 26px; line-height: 1.25; margin: 0 }
main h3 { display: block; font-size: 17px; margin: 34px 0 12px; font-weight: 650 }
`

var exportPage = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("export.html").Funcs(functions).ParseFS(files, "page/export.html"))
})

// Write writes one HTML page with the list of runs and the page of each run. The HTML page needs no server: it has no
// script and no reference to another file or host. Its parts are those of the admin server's pages. Links to other
// pages become text.
func (e Export) Write(out io.Writer) error {
	s := Settings{Runs: e.Runs, Now: time.Now, Version: e.Version, Logger: slog.New(slog.DiscardHandler)}
	style, err := files.ReadFile("page/style.css")
	if err != nil {
		return err
	}
	style = append(style, exportStyle...)
	page := &exportedPage{anchors: map[string]string{}, hatches: map[string]bool{}}
	kept := e.Runs.Page(recent.Query{Limit: MaxExported}, false).Runs
	runs, err := page.runs(s.run, kept, maxExportedBytes)
	if err != nil {
		return err
	}
	list, err := page.part(s.list, fmt.Sprintf("/?limit=%d", MaxExported), "", "runs", "")
	if err != nil {
		return fmt.Errorf("render the list of runs: %w", err)
	}
	sum := sha256.Sum256(style)
	return exportPage().Execute(out, struct {
		Version, StyleHash string
		Style              template.CSS
		List               template.HTML
		Runs               []template.HTML
		Left               int
	}{e.Version, base64.StdEncoding.EncodeToString(sum[:]), template.CSS(style), list, runs, max(e.Total-len(runs), 0)})
}

// exportedPage is the state of an exported page while its parts are taken from pages of the admin server.
type exportedPage struct {
	anchors map[string]string // of runs, by their path
	hatches map[string]bool   // the patterns that the page has already; the style sheet names them
}

// runs returns the parts of runs until they exceed a size in bytes. Links to the other runs become text.
func (p *exportedPage) runs(handler http.HandlerFunc, kept []recent.Summary, limit int) (parts []template.HTML, err error) {
	clear(p.anchors)
	clear(p.hatches)
	for i, of := range kept {
		p.anchors["/runs/"+of.Key] = fmt.Sprintf("r%d", i+1)
	}
	size := 0
	for i, of := range kept {
		if size > limit {
			return p.runs(handler, kept[:i], limit) // again: those before may link to the others
		}
		path := "/runs/" + of.Key
		part, err := p.part(handler, path, of.Key, "run", p.anchors[path])
		if err != nil {
			return nil, fmt.Errorf("render run %d: %w", i+1, err)
		}
		size += len(part)
		parts = append(parts, part)
	}
	return parts, nil
}

// part returns the element with an id from the response to a request. Its ids get a prefix, or are removed without one.
func (p *exportedPage) part(handler http.HandlerFunc, path, key, id, prefix string) (template.HTML, error) {
	r, err := http.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return "", err
	}
	r.SetPathValue("key", key)
	w := &pageBuffer{header: http.Header{}, status: http.StatusOK}
	if handler(w, r); w.status != http.StatusOK {
		return "", fmt.Errorf("status %d: %.200s", w.status, &w.body)
	}
	whole, err := html.Parse(&w.body)
	if err != nil {
		return "", err
	}
	found := elementWithID(whole, id)
	if found == nil {
		return "", fmt.Errorf("the page has no element %s", id)
	}
	p.clean(found, r.URL, prefix)
	setAttribute(found, "id", prefix)
	var out bytes.Buffer
	err = html.Render(&out, found)
	return template.HTML(out.String()), err // rendered from parsed HTML, whose texts are escaped again
}

// pageBuffer is a response in memory.
type pageBuffer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the header, which is not used.
func (w *pageBuffer) Header() http.Header { return w.header }

// WriteHeader keeps the status.
func (w *pageBuffer) WriteHeader(status int) { w.status = status }

// Write keeps the body.
func (w *pageBuffer) Write(p []byte) (int, error) { return w.body.Write(p) }
