package repository_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// The rules, and the mutations that break them.
const (
	signalRules   = "docs/design/signals.md"
	signalsBroken = ".ci/mutations/signals"
)

var (
	ruleLine     = regexp.MustCompile("(?m)^\\| `(\\w+)` \\|.*\\|([^|]*)\\|$")
	namedTest    = regexp.MustCompile("`(\\w+) (Test\\w+)`")
	mutationLine = regexp.MustCompile(`(?m)^[ \t]*mutate\b.*$`)
	mutationHead = regexp.MustCompile(`^mutate (\w+) (\S+) (\S+) (Test\w+) \\$`)
)

// TestSignals compares the rules with their mutations: .ci/mutate breaks each rule for each test that it names, and nothing else.
func TestSignals(t *testing.T) {
	problems, err := unheld(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		t.Error(problem)
	}
}

// unheld reports rules and mutations without a counterpart, and tests that do not exist.
func unheld(root fs.FS) ([]string, error) {
	rules, err := fs.ReadFile(root, signalRules)
	if err != nil {
		return nil, err
	}
	mutations, err := fs.ReadFile(root, signalsBroken)
	if err != nil {
		return nil, err
	}
	named, problems := readRules(string(rules))
	broken, more := readMutations(root, string(mutations))
	problems = append(problems, more...)
	for _, n := range named {
		if !slices.Contains(broken, n) {
			problems = append(problems, fmt.Sprintf("%s: no mutation of %s says so", n, signalsBroken))
		}
	}
	for _, b := range broken {
		if !slices.Contains(named, b) {
			problems = append(problems, fmt.Sprintf("%s: no rule of %s says so", b, signalRules))
		}
	}
	return problems, nil
}

// readRules returns the tests of each rule as "T1 tracker TestTiming".
func readRules(page string) (named, problems []string) {
	seen := map[string]bool{}
	for _, line := range ruleLine.FindAllStringSubmatch(page, -1) {
		id, tests := line[1], namedTest.FindAllStringSubmatch(line[2], -1)
		if seen[id] {
			problems = append(problems, fmt.Sprintf("%s has two rules %s", signalRules, id))
		}
		seen[id] = true
		if len(tests) == 0 {
			problems = append(problems, fmt.Sprintf("rule %s names no test", id))
		}
		for _, test := range tests {
			named = append(named, strings.Join([]string{id, test[1], test[2]}, " "))
		}
	}
	if len(seen) == 0 {
		problems = append(problems, signalRules+" has no rules")
	}
	return named, problems
}

// readMutations returns the test that detects each mutation, in the same form.
func readMutations(root fs.FS, list string) (broken, problems []string) {
	for _, line := range mutationLine.FindAllString(list, -1) {
		words := mutationHead.FindStringSubmatch(line)
		if words == nil {
			problems = append(problems, fmt.Sprintf("%q: write mutate LABEL FOLDER PACKAGE TEST, a backslash, and the rest below", line))
			continue
		}
		id, folder, test := words[1], words[3], words[4]
		said := strings.Join([]string{id, path.Base(folder), test}, " ")
		if slices.Contains(broken, said) {
			continue
		}
		broken = append(broken, said)
		if !hasTest(root, folder, test) {
			problems = append(problems, fmt.Sprintf("%s: %s has no such test", said, folder))
		}
	}
	return broken, problems
}

func hasTest(root fs.FS, folder, test string) bool {
	files, err := fs.Glob(root, path.Join(folder, "*_test.go"))
	if err != nil {
		return false
	}
	for _, name := range files {
		source, err := fs.ReadFile(root, name)
		if err != nil {
			return false
		}
		if bytes.Contains(source, []byte("\nfunc "+test+"(t *testing.T)")) {
			return true
		}
	}
	return false
}

// TestSignalsReports plants the mistakes that TestSignals must find.
func TestSignalsReports(t *testing.T) {
	const (
		rule     = "| `T1` | Times are times. | `tracker TestTiming` |\n"
		mutation = "mutate T1 exporter/tracker exporter/tracker TestTiming \\\n  \"times are places\" \\\n  's/time/place/'\n"
		tests    = "package tracker_test\n\nfunc TestTiming(t *testing.T) {}\n"
	)
	for name, c := range map[string]struct {
		rules, mutations, tests string
		want                    []string // the beginnings of the reports
	}{
		"all is well":        {rule, mutation + mutation, tests, nil},
		"in a longer table":  {"| rule | what | test |\n|-|-|-|\n| `T1` | a | b | c | `tracker TestTiming` |\n", mutation, tests, nil},
		"no rules":           {"", "", tests, []string{"docs/design/signals.md has no rules"}},
		"a rule twice":       {rule + rule, mutation, tests, []string{"docs/design/signals.md has two rules T1"}},
		"a rule unheld":      {rule + "| `T2` | So is space. | |\n", mutation, tests, []string{"rule T2 names no test"}},
		"a rule unbroken":    {rule + strings.ReplaceAll(rule, "T1", "T2"), mutation, tests, []string{"T2 tracker TestTiming: no mutation"}},
		"a test unbroken":    {strings.ReplaceAll(rule, "`tracker", "`spans TestTimes`, `tracker"), mutation, tests, []string{"T1 spans TestTimes: no mutation"}},
		"a mutation unruled": {rule, mutation + strings.ReplaceAll(mutation, "T1", "T2"), tests, []string{"T2 tracker TestTiming: no rule"}},
		"a test that is not": {rule, mutation, strings.ReplaceAll(tests, "TestTiming", "TestTimings"), []string{"T1 tracker TestTiming: exporter/tracker has no such test"}},
		"in one line":        {rule, mutation + "mutate T1 exporter/tracker exporter/tracker TestTiming 's/a/b/'\n", tests, []string{`"mutate T1 exporter/tracker`}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := unheld(fstest.MapFS{
				signalRules:                       {Data: []byte(c.rules)},
				signalsBroken:                     {Data: []byte(c.mutations)},
				"exporter/tracker/timing_test.go": {Data: []byte(c.tests)},
			})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.EqualFunc(got, c.want, strings.HasPrefix) {
				t.Errorf("reports %q, want %q", got, c.want)
			}
		})
	}
}
