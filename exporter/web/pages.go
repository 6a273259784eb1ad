package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"sync"

	"github.com/delegraph/delegraph/exporter/tracker"
)

//go:embed page
var files embed.FS

var functions = template.FuncMap{
	"shown": oneLine, "dash": textOrDash, "named": agentName, "about": subjectText, "stated": confidenceText,
	"percent": percent, "percentage": func(ratio float64) string { return percentOf(min(max(ratio, 0), 1)) },
	"counts": counts[int], "many": counts[uint64], "grouped": func(n int) string { return grouped(int64(n)) },
	"tokens": tokens, "size": sizeText, "clock": formatTime, "hour": formatHour, "day": formatDay, "stamp": formatRFC3339, "wait": waitText,
	"kind":  func(k tracker.OperationKind) string { return kinds[k] },
	"kinds": func() []string { return []string{"workflow", "agent", "step", "tool", "model", "failed"} }, // kinds of bars that may be hatched
}

// page returns a page of the server, which is parsed when it is first shown.
func page(name string) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		return template.Must(template.New("frame.html").Funcs(functions).ParseFS(files, "page/frame.html", "page/"+name))
	})
}

var listPage, runPage, sessionPage, missingPage = page("list.html"), page("run.html"), page("session.html"), page("missing.html")

// frame is shared by all pages.
type frame struct {
	Title   string
	Base    string // prefix of links: the relative path of the server's root, so that it may be below a prefix
	Version string
	Asset   string // a hash of the assets
	Live    bool   // the page follows the runs
}

func (s Settings) frame(title, base string, live bool) frame {
	return frame{Title: title, Base: base, Version: s.Version, Asset: assetTag, Live: live}
}

// write renders a complete page before it sends any of it.
func (s Settings) write(w http.ResponseWriter, status int, page func() *template.Template, shown any) {
	var text bytes.Buffer
	if err := page().Execute(&text, shown); err != nil {
		s.Logger.Error("cannot render a page", "err", err)
		writeText(w, http.StatusInternalServerError, "cannot render this page")
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes())
}

var assetTypes = map[string]string{
	"style.css": "text/css; charset=utf-8", "script.js": "text/javascript; charset=utf-8", "icon.svg": "image/svg+xml",
}

var assetTag = tag()

func tag() string {
	sum := sha256.New()
	for _, name := range []string{"style.css", "script.js", "icon.svg"} {
		content, _ := files.ReadFile(path.Join("page", name)) // embedded files exist
		sum.Write(content)
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:6])
}

func asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	kind, known := assetTypes[name]
	if !known {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable") // its URL changes with its content
	content, _ := files.ReadFile(path.Join("page", name))
	_, _ = w.Write(content)
}
