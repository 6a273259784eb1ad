package web

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/recent"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// settingsOfThree returns settings with three ended runs. "short" takes 5 s from noon. "long" takes 20 s, starts ten
// minutes earlier and fails. "untimed" is from a capture without times.
func settingsOfThree() Settings {
	short, long, untimed := sampleRun(), sampleRun(), sampleRun()
	short.ID, short.Session, short.Status, short.Root.Ended = "short", "conversation-7", tracker.Completed, moment(5)
	long.ID, long.Source, long.Status, long.Root.Started, long.Root.Ended = "long", "sales", tracker.Failed, moment(-600), moment(-580)
	long.Usage = event.Usage{Input: event.Count{N: 7, Known: true}, Output: event.Count{N: 3, Known: true}}
	untimed.ID, untimed.Root.Started.At, untimed.Root.Ended.At = "untimed", time.Time{}, time.Time{}
	s := settings()
	s.Runs = runsOf(untimed, long, short)
	return s
}

// listed returns the ids of the runs on a page of the list.
func listed(body string) (ids []string) {
	for _, m := range regexp.MustCompile(`run <bdi>([^<]*)</bdi></small></th>`).FindAllStringSubmatch(body, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// TestListQueries checks which runs the page and the API show for each parameter, and that the form shows the parameters.
func TestListQueries(t *testing.T) {
	s := settingsOfThree() // it is 12:01
	for query, c := range map[string]struct{ want, form string }{
		"":                               {"short long untimed", `<option value="">any time</option>`},
		"q=SHO":                          {"short", `name="q" value="SHO"`},
		"q=conversation":                 {"short", ""},
		"q=+sales-bot%22%3E":             {"", `name="q" value="sales-bot&#34;&gt;"`},
		"q=0200000000000000":             {"short long untimed", ""}, // a span of all of them
		"since=15m":                      {"short long", `<option value="15m" selected>last 15 minutes</option>`},
		"from=2026-01-02T12:00:00Z":      {"short", `name="from" value="2026-01-02T12:00:00Z"`},
		"to=2026-01-02T13:00:00%2B01:00": {"long", `name="to" value="2026-01-02T13:00:00&#43;01:00"`},
		"sort=started":                   {"short long untimed", `<option value="started" selected>`},
		"sort=duration":                  {"long short untimed", `aria-label="Runs: open runs first, then the longest"`},
		"sort=tokens":                    {"short untimed long", `<option value="tokens" selected>`},
		"q=&since=&sort=&from=":          {"short long untimed", ""},
		"sort=duration&status=failed&source=sales": {"long", ""},
	} {
		_, body := ask(t, s, "GET", "/?"+query)
		if got := strings.Join(listed(body), " "); got != c.want || !strings.Contains(body, c.form) {
			t.Errorf("%s: %q, want %q and %s in %s", query, got, c.want, c.form, body)
		}
		_, body = ask(t, s, "GET", "/api/v1/runs?"+query)
		var ids []string
		for _, m := range regexp.MustCompile(`"run":"([^"]*)","dialect"`).FindAllStringSubmatch(body, -1) {
			ids = append(ids, m[1])
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("the API, %s: %q, want %q", query, got, c.want)
		}
	}
}

// TestSortedPages follows the links of the page in each order, with filters.
func TestSortedPages(t *testing.T) {
	s := settings()
	for i := range 130 {
		r := sampleRun()
		r.ID, r.Root.Started, r.Root.Ended = fmt.Sprint("r-", i), moment(-i), moment(i%7)
		r.Usage.Input.N = int64(i % 3)
		s.Runs.RunEnded(r)
	}
	for _, by := range []string{"", "started", "duration", "tokens"} {
		var got []string
		pages := 0
		for path := "/?q=r-&since=1h&sort=" + by; path != ""; pages++ {
			_, body := ask(t, s, "GET", path)
			got = append(got, listed(body)...)
			next := regexp.MustCompile(`<a href="(\?[^"]*)" rel="next">`).FindStringSubmatch(body)
			if path = ""; next != nil {
				path = "/" + strings.ReplaceAll(next[1], "&amp;", "&")
				if u, err := url.Parse(path); err != nil || u.Query().Get("since") != "1h" || u.Query().Get("q") != "r-" || u.Query().Get("sort") != by {
					t.Fatalf("%s leads to %s", by, path)
				}
			}
		}
		if slices.Sort(got); pages != 2 || len(slices.Compact(got)) != 100 { // the store keeps 100
			t.Errorf("sort=%s: %d runs on %d pages", by, len(got), pages)
		}
	}
}

// TestOverview checks the numbers above the list.
func TestOverview(t *testing.T) {
	s := settingsOfThree()
	for query, want := range map[string][]string{
		"": {
			"<dt>Runs started</dt><dd>3 <small>since 11:50:00</small>", "<dt>Runs a minute</dt><dd>0.27</dd>", "<dd>33.3 % <small>1 of 3 ended</small>",
			"<dd>5.00 s / 20.0 s <small>2 of 3 ended</small>", "<dd>24\u202f697 / 3 <small>in: 3 of 3 runs, out: 1 of 3 runs</small>",
			`<th scope="row"><bdi>sales</bdi></th><td class="n">1</td><td class="n">0.091</td><td>100 % <small>1 of 1 ended</small></td><td>20.0 s / 20.0 s</td><td>7 / 3</td>`,
			`<tr><th scope="row">Total</th><td class="n">3</td>`,
		},
		"since=15m":                 {"<dt>Runs started</dt><dd>2 <small>since 11:50:00</small>", "The oldest run kept is from 11:50:00."},
		"from=2026-01-02T11:55:00Z": {"<dd>1 <small>since 11:55:00</small>", "<dt>Runs a minute</dt><dd>0.17</dd>", "<dd>5.00 s / 5.00 s</dd>"},
		"from=2026-01-01T00:00:00Z&to=2026-01-02T12:00:00Z": {"<dd>1 <small>since 11:50:00 until 12:00:00</small>", "The oldest run kept is from 11:50:00."},
		"from=2026-01-02T12:00:30Z":                         {"<dd>0 <small>since 12:00:30</small>", "<dt>Runs a minute</dt><dd>– <small>less than a minute shown</small>", "<dt>Failed</dt><dd>–</dd>", "<dd>– / –</dd>"},
	} {
		_, body := ask(t, s, "GET", "/?"+query)
		for _, part := range want {
			if !strings.Contains(body, part) {
				t.Errorf("%s: no %s in %s", query, part, body)
			}
		}
		if limits := strings.Contains(body, `id="limits"`); limits != strings.Contains(strings.Join(want, ""), "oldest") {
			t.Errorf("%s: the page says what it leaves out: %t", query, limits)
		}
		if sources := strings.Contains(body, `id="by-source"`); sources != (query == "" || query == "since=15m") {
			t.Errorf("%s: a table of one source, or none of two", query)
		}
	}
	s.Runs = recent.New(1, 1<<20)
	for range 2 {
		s.Runs.RunEnded(sampleRun())
	}
	const removed = "The oldest run kept is from 12:00:00. Some runs that started up to 12:00:00 were removed to make room, so these numbers are of later runs."
	if _, body := ask(t, s, "GET", "/"); !strings.Contains(body, removed) || !strings.Contains(body, "<dt>Runs started</dt><dd>0 ") {
		t.Errorf("no %s in %s", removed, body)
	}
	const none = "The oldest run kept is from 12:00:00. Runs of this time may have been removed to make room, so no numbers are shown."
	if _, body := ask(t, s, "GET", "/?to=2026-01-02T11:00:00Z"); !strings.Contains(body, none) || !strings.Contains(body, "<dt>Runs started</dt><dd>–</dd>") {
		t.Errorf("no %s in %s", none, body)
	}
	s.Now = func() time.Time { return noon.AddDate(0, 0, 1) }
	if _, body := ask(t, s, "GET", "/"); !strings.Contains(body, "is from 2026-01-02 12:00:00.") {
		t.Errorf("no date in %s", body)
	}
}

// TestEmptyList checks what the page says without runs, and with filters that select none.
func TestEmptyList(t *testing.T) {
	s := settings()
	s.Sources = recent.NewSources(time.Now,
		recent.Source{Name: "support", Kind: "proxy", Address: "http://localhost:8080", Agent: "http://127.0.0.1:8000"},
		recent.Source{Name: "weather", Kind: "tail", Agent: "http://127.0.0.1:9000"})
	const asks = "<code>delegraph demo --agent=URL</code>"
	_, body := ask(t, s, "GET", "/")
	for _, want := range []string{
		"No runs yet. ", "Use <code>http://localhost:8080</code> in your client instead of <code>http://127.0.0.1:8000</code>, the agent.",
		"Reads the agent at <code>http://127.0.0.1:9000</code> itself.", asks,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if strings.Contains(body, "<dt>Runs started</dt>") {
		t.Error("there is an overview of nothing")
	}
	s.Sources.SetExample("support", `curl -N 'http://localhost:8080/run_sse' -d '{"a":"<b>"}'`)
	if _, body := ask(t, s, "GET", "/"); strings.Contains(body, asks) || !strings.Contains(body, `This makes it run:<pre tabindex="0">curl -N &#39;http://localhost:8080/run_sse&#39; -d &#39;{&#34;a&#34;:&#34;&lt;b&gt;&#34;}&#39;</pre>`) {
		t.Errorf("the example is not shown: %s", body)
	}
	if _, body := ask(t, s, "GET", "/?q=none"); strings.Contains(body, "No runs yet") || !strings.Contains(body, `No run that is kept matches these filters. <a href="./">Remove the filters</a>`) {
		t.Errorf("filters: %s", body)
	}
	if _, body := ask(t, s, "GET", "/?sort=tokens"); !strings.Contains(body, "No runs yet") {
		t.Errorf("an order is no filter: %s", body)
	}
	s.Sources.Configure(recent.Source{Name: "support", Kind: "proxy", Address: "http://localhost:8081", Agent: "http://127.0.0.1:8000"})
	if _, body := ask(t, s, "GET", "/"); !strings.Contains(body, "http://localhost:8081") || strings.Contains(body, "curl -N") {
		t.Errorf("after a reload: %s", body)
	}
}
