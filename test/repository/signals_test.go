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
	ruleLine     = regexp.MustCompile("(?m)^(?:- `(\\w+)`:|\\| `(\\w+)` \\|)")
	mutationLine = regexp.MustCompile(`(?m)^[ \t]*mutate\b.*$`)
	mutationHead = regexp.MustCompile(`^mutate (\w+) \S+ (\S+) (Test\w+) \\$`)
)

// TestSignals compares the rules with their mutations: .ci/mutate breaks each rule, and nothing else, for tests that exist.
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
	page, err := fs.ReadFile(root, signalRules)
	if err != nil {
		return nil, err
	}
	mutations, err := fs.ReadFile(root, signalsBroken)
	if err != nil {
		return nil, err
	}
	rules, problems := readRules(string(page))
	broken, more := readMutations(root, string(mutations))
	problems = append(problems, more...)
	for _, rule := range rules {
		if !slices.Contains(broken, rule) {
			problems = append(problems, fmt.Sprintf("%s: no mutation in %s", rule, signalsBroken))
		}
	}
	for _, rule := range broken {
		if !slices.Contains(rules, rule) {
			problems = append(problems, fmt.Sprintf("%s: no rule in %s", rule, signalRules))
		}
	}
	return problems, nil
}

// readRules returns the IDs of the rules.
func readRules(page string) (rules, problems []string) {
	for _, line := range ruleLine.FindAllStringSubmatch(page, -1) {
		rule := line[1] + line[2] // in a list or in a table
		if slices.Contains(rules, rule) {
			problems = append(problems, fmt.Sprintf("%s has two rules %s", signalRules, rule))
		}
		rules = append(rules, rule)
	}
	if len(rules) == 0 {
		problems = append(problems, signalRules+" has no rules")
	}
	return rules, problems
}

// readMutations returns the IDs of the rules that mutations break.
func readMutations(root fs.FS, list string) (rules, problems []string) {
	for _, line := range mutationLine.FindAllString(list, -1) {
		words := mutationHead.FindStringSubmatch(line)
		if words == nil {
			problems = append(problems, fmt.Sprintf("%q: write mutate LABEL FOLDER PACKAGE TEST, a backslash, and the rest below", line))
			continue
		}
		rule, folder, test := words[1], words[2], words[3]
		if !slices.Contains(rules, rule) {
			rules = append(rules, rule)
		}
		if !hasTest(root, folder, test) {
			problems = append(problems, fmt.Sprintf("%s: %s has no %s", rule, folder, test))
		}
	}
	return rules, problems
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
		rule     = "- `T1`: Times are times.\n"
		mutation = "mutate T1 exporter/tracker exporter/tracker TestTiming \\\n  \"times are places\" \\\n  's/time/place/'\n"
		tests    = "package tracker_test\n\nfunc TestTiming(t *testing.T) {}\n"
	)
	for name, c := range map[string]struct {
		rules, mutations, tests string
		want                    []string // the beginnings of the reports
	}{
		"all is well":        {rule, mutation + mutation, tests, nil},
		"in a table":         {"| rule | what | when |\n|-|-|-|\n| `T1` | a | b |\n", mutation, tests, nil},
		"no rules":           {"", "", tests, []string{"docs/design/signals.md has no rules"}},
		"a rule twice":       {rule + rule, mutation, tests, []string{"docs/design/signals.md has two rules T1"}},
		"a rule unbroken":    {rule + strings.ReplaceAll(rule, "T1", "T2"), mutation, tests, []string{"T2: no mutation"}},
		"a mutation unruled": {rule, mutation + strings.ReplaceAll(mutation, "T1", "T2"), tests, []string{"T2: no rule"}},
		"a test that is not": {rule, mutation, strings.ReplaceAll(tests, "TestTiming", "TestTimings"), []string{"T1: exporter/tracker has no TestTiming"}},
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
