package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// TestRunIsWhole checks that the API returns a run as `replay --format=json` prints it, by any of its ids.
func TestRunIsWhole(t *testing.T) {
	s := settings()
	r := run("e-1")
	r.Trace = [16]byte{15: 9}
	s.Runs = runsOf(r)
	_, summary, _ := s.Runs.Run("e-1")
	var list []tracker.Report
	_, body := ask(t, s, "GET", "/api/v1/runs")
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]tracker.Report{r.Report()}, list); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	for _, id := range []string{"e-1", summary.Key, list[0].Operations[0].ID, "00000000000000000000000000000009"} {
		var one tracker.Report
		_, body = ask(t, s, "GET", "/api/v1/runs/"+id)
		if err := json.Unmarshal([]byte(body), &one); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r.Report(), one); diff != "" {
			t.Errorf("run %s (-want +got):\n%s", id, diff)
		}
	}
}

// TestNewestRun checks that an id shared by several runs finds the run that ended last, and never a run without an id. Keys stay
// unique.
func TestNewestRun(t *testing.T) {
	s := settings()
	nobody, newest, oldest := run(""), run("e-1"), run("e-1")
	newest.Status = tracker.Failed
	s.Runs = runsOf(oldest, newest, nobody)
	if _, body := ask(t, s, "GET", "/api/v1/runs/e-1"); !strings.Contains(body, `"status":"failed"`) {
		t.Errorf("body %s", body)
	}
	if answer, _ := ask(t, s, "GET", "/api/v1/runs/"); answer.StatusCode != 404 {
		t.Errorf("a run without an id: %d", answer.StatusCode)
	}
	_, body := ask(t, s, "GET", "/?status=completed&agent=e-1")
	key := regexp.MustCompile(`runs/[0-9a-f]{8}-[0-9]+`).FindString(body)
	if _, body := ask(t, s, "GET", "/api/v1/"+key); !strings.Contains(body, `"status":"completed"`) {
		t.Errorf("%s: %s", key, body)
	}
}

// TestAgentsNamesAreWeak checks that a run whose id equals another run's key does not hide that run.
func TestAgentsNamesAreWeak(t *testing.T) {
	s := settings()
	s.Runs = runsOf(run("honest"))
	_, honest, _ := s.Runs.Run("honest")
	impostor := run(honest.Key)
	impostor.Root.ID = tracker.SpanID{2}
	s.Runs.RunEnded(impostor)
	if got, _, _ := s.Runs.Run(honest.Key); got.ID != "honest" {
		t.Errorf("the key leads to %s", got.ID)
	}
}

// TestNoHalfAnswer checks that a report that cannot be encoded as JSON is an error and not a truncated response.
func TestNoHalfAnswer(t *testing.T) {
	s := settings()
	r := run("e-1")
	r.Confidence = []tracker.Confidence{{Confidence: event.Confidence{Value: math.NaN(), Known: true}}}
	s.Runs = runsOf(r)
	for _, path := range []string{"/api/v1/runs", "/api/v1/runs/e-1"} {
		if answer, body := ask(t, s, "GET", path); answer.StatusCode != 500 || !strings.Contains(body, "cannot encode the response as JSON") {
			t.Errorf("%s: %d %s", path, answer.StatusCode, body)
		}
	}
	s.Runs.RunEnded(run("e-2")) // the first of the list
	defer func() {
		if got := recover(); got != http.ErrAbortHandler {
			t.Errorf("a list whose second run cannot be encoded ends with %v, want an aborted response", got)
		}
	}()
	ask(t, s, "GET", "/api/v1/runs")
}

// TestPages follows the links from the first page to the last, and checks that each run appears once.
func TestPages(t *testing.T) {
	s := settings()
	var want []string
	for i := range 25 {
		r := run(fmt.Sprint("e-", i))
		if r.Source = "even"; i%2 == 1 {
			r.Source = "odd"
		}
		s.Runs.RunEnded(r)
		want = slices.Insert(want, 0, r.ID)
	}
	for query, want := range map[string][]string{
		"limit=1": want, "limit=7": want, "limit=25": want, "": want, "source=none": nil, "status=failed": nil,
		"source=even&limit=5": slices.DeleteFunc(slices.Clone(want), func(id string) bool { return (id[len(id)-1]-'0')%2 == 1 }),
		"agent=e-7":           {"e-7"},
	} {
		var got []string
		for path := "/api/v1/runs?" + query; path != ""; {
			answer, body := ask(t, s, "GET", path)
			var list []tracker.Report
			if err := json.Unmarshal([]byte(body), &list); err != nil {
				t.Fatal(err)
			}
			for _, r := range list {
				got = append(got, *r.Run)
			}
			at, err := url.Parse(path)
			if err != nil {
				t.Fatal(err)
			}
			path = ""
			if link, _, more := strings.Cut(strings.TrimPrefix(answer.Header.Get("Link"), "<"), ">"); more {
				next, err := url.Parse(link)
				if err != nil || next.IsAbs() || strings.HasPrefix(link, "/") { // a proxy that strips a prefix would break such a link
					t.Fatalf("a link to %s, %v", link, err)
				}
				path = at.ResolveReference(next).String()
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q; want %q", query, got, want)
		}
	}
}

func TestQueriesThatAreRefused(t *testing.T) {
	for query, want := range map[string]string{
		"status=done":                        `\"done\" is not a status; use one of [running completed failed`,
		"limit=0":                            `limit=\"0\" is not valid; use a number from 1 to 1000`,
		"limit=many":                         `limit=\"many\" is not valid; use a number from 1 to 1000`,
		"cursor=yesterday":                   `\"yesterday\" is not a cursor of this list: take one from the previous page`,
		"cursor=ended-0":                     `is not a cursor`,
		"cursor=ended--1":                    `is not a cursor`,
		"cursor=<script>-1":                  `is not a cursor`,
		"cursor=open-99999999999999999999":   `is not a cursor`,
		"state=failed":                       `unknown query parameter \"state\"; use one of agent, cursor, from, limit, q, since, sort, source, status, to`,
		"cursor=started-1-1":                 `is not a cursor of this list`,
		"sort=started&cursor=ended-1":        `is not a cursor of this list`,
		"sort=started&cursor=started-open-1": `is not a cursor of this list`,
		"sort=duration&cursor=duration-01-1": `is not a cursor of this list`,
		"sort=name":                          `sort=\"name\" is not valid; use one of [started duration tokens], or leave it out`,
		"since=2h":                           `since=\"2h\" is not valid; use one of 15m, 1h, 6h, 24h, or from and to`,
		"since=1h&to=2026-01-02T12:00:00Z":   `give either since, or from and to`,
		"from=noon":                          `from=\"noon\" is not a time; use RFC 3339, such as 2026-01-02T15:04:05Z, with + encoded as %2B`,
		"to=2026-01-02":                      `to=\"2026-01-02\" is not a time`,
		"from=2026-01-02T12:00:00Z&to=2026-01-02T12:00:00Z": `from must be before to`,
		"q=" + strings.Repeat("a", 257):                     `q has 257 bytes; use at most 256`,
		"Status=failed":                                     `unknown query parameter`,
		"status=failed&status=completed":                    `give only one status`,
		"status=failed;limit=1":                             `the query string is malformed`,
	} {
		answer, body := ask(t, settings(), "GET", "/api/v1/runs?"+strings.NewReplacer("<", "%3C", ">", "%3E").Replace(query))
		if answer.StatusCode != http.StatusBadRequest || !strings.Contains(body, want) {
			t.Errorf("%s: %d %s", query, answer.StatusCode, body)
		}
		if page, text := ask(t, settings(), "GET", "/?"+strings.NewReplacer("<", "%3C", ">", "%3E").Replace(query)); page.StatusCode != http.StatusBadRequest || page.Header.Get("Content-Type") != "text/plain; charset=utf-8" {
			t.Errorf("%s: page %d %s", query, page.StatusCode, text)
		}
	}
}

// TestOTLP checks that Settings.OTLP writes the run.
func TestOTLP(t *testing.T) {
	s := settings()
	s.Runs = runsOf(run("e-1"))
	if answer, body := ask(t, s, "GET", "/api/v1/runs/e-1?format=otlp"); answer.StatusCode != 400 || !strings.Contains(body, "is not a format") {
		t.Errorf("without an OTLP writer: %d %s", answer.StatusCode, body)
	}
	s.OTLP = func(_ context.Context, w io.Writer, r *tracker.Run) error {
		_, err := io.WriteString(w, "spans of "+r.ID)
		return err
	}
	if answer, body := ask(t, s, "GET", "/api/v1/runs/e-1?format=otlp"); answer.StatusCode != 200 || body != "spans of e-1" || answer.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
	if answer, body := ask(t, s, "GET", "/api/v1/runs/e-1?fromat=otlp"); answer.StatusCode != 400 || !strings.Contains(body, `unknown query parameter \"fromat\"; use one of format`) {
		t.Errorf("a misspelled parameter: %d %s", answer.StatusCode, body)
	}
	if _, body := ask(t, s, "GET", "/runs/e-1"); !strings.Contains(body, "?format=otlp") {
		t.Error("the page has no link to it")
	}
	s.OTLP = func(_ context.Context, w io.Writer, _ *tracker.Run) error {
		_, _ = io.WriteString(w, "half")
		return errors.New("no more")
	}
	if answer, body := ask(t, s, "GET", "/api/v1/runs/e-1?format=otlp"); answer.StatusCode != 500 || strings.Contains(body, "half") {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
}
