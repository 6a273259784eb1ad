package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"path"
)

//go:embed page
var files embed.FS

var functions = template.FuncMap{
	"shown": shown, "dash": orDash, "named": named, "about": about, "stated": stated,
	"percent": percent, "percentage": func(ratio float64) string { return share(min(max(ratio, 0), 1)) },
	"counts": counts[int], "many": counts[uint64], "grouped": func(n int) string { return grouped(int64(n)) },
	"tokens": tokens, "size": size, "clock": clock, "hour": hour, "day": day, "stamp": stamp, "wait": wait,
	"kinds": func() []string { return []string{"workflow", "agent", "step", "tool", "model", "failed"} }, // of bars that may be hatched
}

func page(name string) *template.Template {
	return template.Must(template.New("frame.html").Funcs(functions).ParseFS(files, "page/frame.html", "page/"+name))
}

var listPage, runPage, missingPage = page("list.html"), page("run.html"), page("missing.html")

// frame is what all pages have.
type frame struct {
	Title   string
	Base    string // of links: where the root of the server is, so that it may be below a prefix
	Version string
	Asset   string // changes with the assets
	Live    bool   // the page follows the runs
}

func (s Settings) frame(title, base string, live bool) frame {
	return frame{Title: title, Base: base, Version: s.Version, Asset: assetTag, Live: live}
}

// write renders a page whole before it sends any of it.
func (s Settings) write(w http.ResponseWriter, status int, page *template.Template, shown any) {
	var text bytes.Buffer
	if err := page.Execute(&text, shown); err != nil {
		s.Logger.Error("a page cannot be written", "err", err)
		say(w, http.StatusInternalServerError, "this page cannot be written")
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
		content, _ := files.ReadFile(path.Join("page", name)) // what is embedded is there
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
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable") // its URL changes with it
	content, _ := files.ReadFile(path.Join("page", name))
	_, _ = w.Write(content)
}
