package web

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// hostile lists names that an agent or a request path may contain, and the text that pages show for them.
var hostile = map[string]struct{ sent, shown string }{
	"script":             {`<script>alert(1)</script>`, `<script>alert(1)</script>`},
	"end of a table":     {`</td></tr></table><img src=x onerror=alert(1)>`, `</td></tr></table><img src=x onerror=alert(1)>`},
	"quotes":             {`"'` + "`" + `><b onmouseover="x">`, `"'` + "`" + `><b onmouseover="x">`},
	"entity":             {`&lt;b&gt;&#0;`, `&lt;b&gt;&#0;`},
	"template":           {`{{.Version}}`, `{{.Version}}`},
	"control characters": {"a\x00\x07\x1b[31m\x7f\r\nb", "a\uFFFD\uFFFD\uFFFD[31m\uFFFD\uFFFD\uFFFDb"},
	"turned around":      {"exe\u202egpj.\u2066x\u2069", "exe\uFFFDgpj.\uFFFDx\uFFFD"},
	"not UTF-8":          {"a\xff\xfeb\xc3", "a\uFFFDb\uFFFD"},
	"path":               {"a/b?c#d%2F..", "a/b?c#d%2F.."},
	"long":               {"<b>" + strings.Repeat("o", 1<<20), "<b>" + strings.Repeat("o", maxNameBytes-3) + "…"},
	"long and not UTF-8": {strings.Repeat("\xff", 1<<16), "\uFFFD…"},
	"cut in a rune":      {strings.Repeat("a", maxNameBytes-1) + "\u00fc", strings.Repeat("a", maxNameBytes-1) + "…"},
	"invisible":          {"\u200b\u3164\U000e0041", "\uFFFD\uFFFD\uFFFD"},
	"blank":              {" \u00a0\u3000", "unnamed agent"},
	"tower":              {"z" + strings.Repeat("\u0335", 50), "z" + strings.Repeat("\u0335", 4)},
}

// TestHostilePages checks that pages show names as text, and shortened.
func TestHostilePages(t *testing.T) {
	for _, path := range []string{"/", "/runs/"} {
		plain, _ := elements(t, path, "name")
		for name, c := range hostile {
			t.Run(path+" "+name, func(t *testing.T) {
				got, text := elements(t, path, c.sent)
				if !slices.Equal(got, plain) {
					t.Errorf("the page has the elements %q; want %q", got, plain)
				}
				if len(text) > 16<<10 {
					t.Errorf("the page has %d bytes of text", len(text))
				}
				if strings.Contains(text, strings.Repeat("\u0335", 5)) {
					t.Error("marks cover the lines around them")
				}
				if strings.ContainsAny(text, "\x00\x07\x1b\x7f\u202e\u2066") || !strings.Contains(text, c.shown) {
					t.Errorf("the page says %.2000q", text)
				}
			})
		}
	}
}

// elements parses the page of a run as a browser would. It returns the elements, without details that depend on the length of
// names, and the text.
func elements(t *testing.T, path, name string) (tags []string, text string) {
	t.Helper()
	s := settings()
	r := run(name)
	if path == "/" {
		r.Operations = append(r.Operations, &tracker.Operation{ID: tracker.SpanID{2}, Parent: r.Root.ID, Kind: tracker.ExecuteTool, Name: name, Status: tracker.OperationError, ErrorCode: name})
	}
	s.Runs = runsOf(r)
	if path == "/runs/" {
		path += s.Runs.Page(recent.Query{}, false).Runs[0].Key
	}
	answer, body := ask(t, s, "GET", path)
	if answer.StatusCode != 200 {
		t.Fatalf("%s: %s %.300s", path, answer.Status, body)
	}
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for n := range root.Descendants() {
		switch n.Type {
		case html.TextNode:
			said.WriteString(n.Data)
		case html.ElementNode:
			if n.Data == "option" && n.FirstChild != nil && n.FirstChild.Data != "all" {
				continue // a filter offers only what can be sent back as it is
			}
			tag := n.Data
			for _, a := range n.Attr {
				if tag += " " + a.Key; a.Key != "id" && a.Key != "href" {
					tag += "=" + a.Val
				}
				if (a.Key == "href" || a.Key == "src") && strings.Contains(a.Val, ":") {
					t.Errorf("%s leads to %.100s", n.Data, a.Val)
				}
			}
			tags = append(tags, tag)
		}
	}
	return tags, said.String()
}

// TestHostileFilter filters by names that no run has. The page shows the name as the selected option, or not at all.
func TestHostileFilter(t *testing.T) {
	for name, c := range hostile {
		answer, body := ask(t, settings(), "GET", "/?"+url.Values{"agent": {c.sent}, "source": {c.sent}}.Encode())
		if answer.StatusCode != 200 || strings.Contains(body, "<script>alert") || strings.Contains(body, "<img src=x") || len(body) > 16<<10 {
			t.Errorf("%s: %d %.2000s", name, answer.StatusCode, body)
		}
	}
}

// TestHostileJSON checks that the API returns names in full, except for bytes that JSON cannot hold, and finds runs by them.
func TestHostileJSON(t *testing.T) {
	for name, c := range hostile {
		t.Run(name, func(t *testing.T) {
			s, id := settings(), c.sent
			s.Runs = runsOf(run(id), run("other"))
			want := string([]rune(id)) // every byte that is not UTF-8 replaced
			var list []tracker.Report
			answer, body := ask(t, s, "GET", "/api/v1/runs")
			if err := json.Unmarshal([]byte(body), &list); err != nil {
				t.Fatal(err)
			}
			if len(list) != 2 || *list[1].Run != want || *list[1].Operations[0].Agent != want || list[1].Artifacts[0].Name != want {
				t.Errorf("list %.300s", body)
			}
			if strings.ContainsAny(body, "<>") {
				t.Errorf("markup in %.300s", body)
			}
			checkHeaders(t, answer)
			var one tracker.Report
			answer, body = ask(t, s, "GET", "/api/v1/runs/"+url.PathEscape(id))
			if err := json.Unmarshal([]byte(body), &one); err != nil || answer.StatusCode != 200 || one.Run == nil || *one.Run != want {
				t.Errorf("%d %.300s, %v", answer.StatusCode, body, err)
			}
		})
	}
}

// TestHostilePath requests runs that do not exist, and checks that the response does not repeat the path.
func TestHostilePath(t *testing.T) {
	for name, c := range hostile {
		answer, body := ask(t, settings(), "GET", "/api/v1/runs/"+url.PathEscape(c.sent))
		if page, text := ask(t, settings(), "GET", "/runs/"+url.PathEscape(c.sent)); page.StatusCode != 404 || strings.Contains(text, "alert(1)") {
			t.Errorf("%s: page %d %.300s", name, page.StatusCode, text)
		}
		if answer.StatusCode != 404 || body != `{"error":"no such run: it is neither open nor stored"}`+"\n" {
			t.Errorf("%s: %d %.300s", name, answer.StatusCode, body)
		}
	}
}
