package dashboards_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write the table of times")

// Six healthy hours come before the fault, which lasts four hours. The times are in minutes.
const (
	faultBegins = 6 * 60
	testEnds    = 10 * 60
)

// traffic adds a number of requests every so many minutes. Its job label is its name.
type traffic struct {
	job        string
	every, add int
}

var levels = []traffic{{"10 an hour", 6, 1}, {"10 a minute", 1, 10}, {"10 a second", 1, 600}}

// requests returns how many good and bad requests come in a minute.
type requests func(minute int) (good, bad int)

// allFail returns traffic that fails from the beginning of the fault.
func (l traffic) allFail(minute int) (good, bad int) {
	switch {
	case minute%l.every != 0:
		return 0, 0
	case minute < faultBegins:
		return l.add, 0
	}
	return 0, l.add
}

// oneFails returns traffic in which one request fails.
func (l traffic) oneFails(minute int) (good, bad int) {
	if minute == faultBegins {
		return l.add - 1, 1
	}
	good, bad = l.allFail(minute)
	return good + bad, 0
}

// counter returns the values of a counter that add increments.
func counter(add func(minute int) int) string {
	total, values := 0, make([]string, 0, testEnds+1)
	for minute := range testEnds + 1 {
		total += add(minute)
		values = append(values, strconv.Itoa(total))
	}
	return strings.Join(values, " ")
}

// up returns the values of delegraph_source_up, which is the result of the last request.
func (r requests) up() string {
	last, values := "1", make([]string, 0, testEnds+1)
	for minute := range testEnds + 1 {
		if good, bad := r(minute); bad > 0 {
			last = "0"
		} else if good > 0 {
			last = "1"
		}
		values = append(values, last)
	}
	return strings.Join(values, " ")
}

// sources returns the series of sources with one kind of fault each. The namespace says what the traffic is.
func (r requests) sources(job, namespace string) (all []series) {
	of := func(n int) string {
		return counter(func(minute int) int {
			good, bad := r(minute)
			return []int{good, bad, good + bad}[n]
		})
	}
	good, bad, both := of(0), of(1), of(2)
	add := func(name, source, labels, values string) {
		all = append(all, series{fmt.Sprintf("%s{job=%q, namespace=%q, instance=\"a\", source=%q%s}", name, job, namespace, source, labels), values})
	}
	for _, status := range []string{"failed", "timed_out"} {
		add("delegraph_runs_ended_total", status, `, agent="x", status="completed"`, good)
		add("delegraph_runs_ended_total", status, `, agent="x", status="`+status+`"`, bad)
	}
	add("delegraph_tool_calls_total", "tool", `, agent="x", tool="t"`, both)
	add("delegraph_tool_call_failures_total", "tool", `, agent="x", tool="t"`, bad)
	add("delegraph_frames_total", "unreadable", "", both)
	add("delegraph_parse_errors_total", "unreadable", `, dialect="adk", reason="syntax"`, bad)
	add("delegraph_run_time_to_first_text_seconds_bucket", "slow", `, agent="x", le="20"`, good)
	add("delegraph_run_time_to_first_text_seconds_bucket", "slow", `, agent="x", le="40"`, both)
	add("delegraph_run_time_to_first_text_seconds_bucket", "slow", `, agent="x", le="+Inf"`, both)
	add("delegraph_run_time_to_first_text_seconds_count", "slow", `, agent="x"`, both)
	add("delegraph_source_up", "mute", "", strings.TrimSpace(strings.Repeat("1 ", testEnds+1)))
	add("delegraph_runs_started_total", "mute", "", both)
	add("delegraph_events_total", "mute", `, dialect="adk", kind="text"`, good)
	add("delegraph_source_up", "down", "", r.up())
	add("delegraph_source_upstream_errors_total", "down", "", bad)
	return all
}

// firing is a rule that fired, and the minutes from the beginning of the fault until then.
type firing struct {
	rule, job, namespace string
	after                int
}

var (
	sampleInOutput = regexp.MustCompile(`\{(alertname=[^}]*)\} ([\d.E+]+)`)
	labelInSample  = regexp.MustCompile(`(\w+)="([^"]*)"`)
)

// firings runs promtool and returns when rules fire for the first time.
func firings(t *testing.T, input []series, jobs []string) (found []firing) {
	t.Helper()
	rulesFile, err := filepath.Abs("rules/delegraph.yml")
	if err != nil {
		t.Fatal(err)
	}
	var queries []any // they fail, and promtool prints what it got; one query for all would exceed its limit on samples
	for _, namespace := range []string{"all", "one", "reported"} {
		for _, job := range jobs {
			queries = append(queries, map[string]any{
				"expr": fmt.Sprintf(`min by (alertname, severity, long, job, namespace) (min_over_time(timestamp(ALERTS{alertstate="firing", namespace=%q, job=%q})[%dm:1m]))`,
					namespace, job, testEnds-faultBegins),
				"eval_time": fmt.Sprintf("%dm", testEnds),
			})
		}
	}
	content, err := yaml.Marshal(map[string]any{
		"rule_files": []string{rulesFile}, "evaluation_interval": "1m",
		"group_eval_order": groupNames(t), // else promtool evaluates the groups in random order
		"tests": []any{map[string]any{
			"interval": "1m", "input_series": append(input, series{`delegraph_build_info{job="delegraph"}`, fmt.Sprintf("1x%d", testEnds)}),
			"promql_expr_test": queries,
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "traffic.yml")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), component(t, "prometheus", "promtool"), "test", "rules", file).CombinedOutput()
	if err == nil || strings.Contains(string(said), "err:") {
		t.Fatalf("no alert fires: %v: %s", err, said)
	}
	for _, sample := range sampleInOutput.FindAllStringSubmatch(string(said), -1) {
		labels := map[string]string{}
		for _, l := range labelInSample.FindAllStringSubmatch(sample[1], -1) {
			labels[l[1]] = l[2]
		}
		seconds, err := strconv.ParseFloat(sample[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, firing{ruleName(labels["alertname"], labels["severity"], labels["long"]), labels["job"], labels["namespace"], int(seconds)/60 - faultBegins})
	}
	return found
}

func ruleName(alert, severity, long string) string {
	if long != "" {
		severity += ", " + long
	}
	return alert + " | " + severity
}

func groupNames(t *testing.T) (names []string) {
	t.Helper()
	content, err := os.ReadFile("rules/delegraph.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^  - name: (\S+)$`).FindAllStringSubmatch(string(content), -1) {
		names = append(names, m[1])
	}
	return names
}

// reported lists traffic of small agents for which no alert, or a late one, used to fire, and the minutes within which one must.
var reported = map[string]struct {
	rule     string
	requests requests
	within   int
}{
	"36 runs an hour, all fail": {"DelegraphRunsFailing | critical", func(m int) (int, int) { return 0, each(m, 5, 3) }, 30},
	"half of 12 frames an hour": {"DelegraphParseErrorBudgetBurn | critical, 6h", func(m int) (int, int) { return each(m, 10, 1), each(m+5, 10, 1) }, 180},
	"60 % of 150 frames an hour": {
		"DelegraphParseErrorBudgetBurn | critical, 1h", func(m int) (int, int) { return each(m, 2, 2), each(m, 2, 3) }, 30,
	},
}

// each returns n in each minute of the fault that is a multiple of another number, and else 0.
func each(minute, every, n int) int {
	if minute < faultBegins || minute%every != 0 {
		return 0
	}
	return n
}

// timesPage is the golden of TestTraffic; the runbooks' index links to it.
const timesPage = "testdata/times.md"

// TestTraffic checks when alerts fire during a total failure at three levels of traffic, and that a single error fires none. It
// compares the times with timesPage.
func TestTraffic(t *testing.T) {
	var input []series
	var jobs []string
	for _, l := range levels {
		jobs = append(jobs, l.job)
		input = slices.Concat(input, requests(l.allFail).sources(l.job, "all"), requests(l.oneFails).sources(l.job, "one"))
	}
	for name, r := range reported {
		jobs = append(jobs, name)
		input = append(input, r.requests.sources(name, "reported")...)
	}
	times := map[string]map[string]int{} // by job and rule
	for _, f := range firings(t, input, jobs) {
		if f.namespace == "one" || f.after <= 0 {
			t.Errorf("%s, %s, %s: fires after %d minutes", f.rule, f.job, f.namespace, f.after)
		}
		if times[f.job] == nil {
			times[f.job] = map[string]int{}
		}
		times[f.job][f.rule] = f.after
	}
	for name, r := range reported {
		if after, fires := times[name][r.rule]; !fires || after > r.within {
			t.Errorf("%s: %s fires %t, after %d minutes; want at most %d", name, r.rule, fires, after, r.within)
		}
	}
	want := "The time from the beginning of a total failure, after six healthy hours, until an alert fires:\n" + timeTable(t, times)
	if *update {
		if err := os.WriteFile(timesPage, []byte(want), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(timesPage)
	if err != nil {
		t.Fatal(err)
	}
	if want != string(content) {
		t.Errorf("%s is out of date; -update writes it:\n%s", timesPage, want)
	}
}

// timeTable returns the table of times, in the order of the rules.
func timeTable(t *testing.T, times map[string]map[string]int) string {
	t.Helper()
	table := "\n| alert | rule |"
	for _, l := range levels {
		table += " " + l.job + " |"
	}
	table += "\n|-|-|" + strings.Repeat("-|", len(levels)) + "\n"
	for _, r := range rules(t) {
		name, row, fires := ruleName(r.Alert, r.Labels["severity"], r.Labels["long"]), "", false
		for _, l := range levels {
			after, ok := times[l.job][name]
			row += " " + cmp.Or(map[bool]string{true: fmt.Sprintf("%d min", after)}[ok], "–") + " |"
			fires = fires || ok
		}
		if fires {
			table += "| " + name + " |" + row + "\n"
		}
	}
	return table
}
