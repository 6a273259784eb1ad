package web

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/delegraph/delegraph/exporter/tracker"
)

// hostile are names that an agent, or the path of a request to it, may send, and what of them the page shows.
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
	"long":               {"<b>" + strings.Repeat("o", 1<<20), "<b>" + strings.Repeat("o", longestShown-3) + "…"},
	"long and not UTF-8": {strings.Repeat("\xff", 1<<16), "\uFFFD…"},
	"cut in a rune":      {strings.Repeat("a", longestShown-1) + "\u00fc", strings.Repeat("a", longestShown-1) + "\uFFFD…"},
}

// TestHostilePage shows that a name is text on the page, in one place, and short.
func TestHostilePage(t *testing.T) {
	plain, _, _ := elements(t, "name")
	for name, c := range hostile {
		t.Run(name, func(t *testing.T) {
			got, cells, size := elements(t, c.sent)
			if !slices.Equal(got, plain) {
				t.Errorf("the page has the elements %q; want %q", got, plain)
			}
			if size > 10<<10 {
				t.Errorf("the page has %d bytes", size)
			}
			want := []string{"completed", c.shown, c.shown, c.shown, "-", "-", "1"}
			if diff := cmp.Diff(want, cells); diff != "" {
				t.Errorf("cells (-want +got):\n%s", diff)
			}
		})
	}
}

// elements parses the page of one run as a browser would: its elements with their attributes, the text of its cells, its size.
func elements(t *testing.T, name string) (tags, cells []string, size int) {
	t.Helper()
	s := settings()
	s.Runs = func() []tracker.Report { return []tracker.Report{run(name)} }
	_, body := ask(t, s, "GET", "/")
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			tags = append(tags, fmt.Sprint(n.Data, n.Attr))
			if n.Data == "td" && n.FirstChild != nil {
				cells = append(cells, n.FirstChild.Data)
			}
		}
	}
	return tags, cells, len(body)
}

// TestHostileJSON shows that the API has a name whole, except for what JSON cannot hold, and finds a run by it.
func TestHostileJSON(t *testing.T) {
	for name, c := range hostile {
		t.Run(name, func(t *testing.T) {
			s, id := settings(), c.sent
			s.Runs = func() []tracker.Report { return []tracker.Report{run("other"), run(id)} }
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

// TestHostilePath asks for runs that nobody has: what was asked for is not in the answer.
func TestHostilePath(t *testing.T) {
	for name, c := range hostile {
		answer, body := ask(t, settings(), "GET", "/api/v1/runs/"+url.PathEscape(c.sent))
		if answer.StatusCode != 404 || body != `{"error":"no such run among those that ended last"}`+"\n" {
			t.Errorf("%s: %d %.300s", name, answer.StatusCode, body)
		}
	}
}
