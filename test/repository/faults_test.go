package repository_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// faultItem matches a fault and what happens.
var faultItem = regexp.MustCompile(`(?m)^- \*\*(.+?)\*\*: \S`)

// TestFaults compares docs/design/faults.md with .ci/fault-tests: each fault has at least one existing test there, and each test a
// fault here.
func TestFaults(t *testing.T) {
	page, err := os.ReadFile("../../docs/design/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile("../../.ci/fault-tests")
	if err != nil {
		t.Fatal(err)
	}
	tests, fault := map[string]int{}, ""
	for line := range strings.Lines(string(list)) {
		line = strings.TrimSuffix(line, "\n")
		named, isTest := strings.CutPrefix(line, "  ")
		if !isTest {
			fault = line
			continue
		}
		folder, names, _ := strings.Cut(named, " ")
		for name := range strings.SplitSeq(names, "|") {
			tests[fault]++
			if !tested(t, filepath.Join("../..", folder), name) {
				t.Errorf("%s: there is no %s in %s", fault, name, folder)
			}
		}
	}
	faults := faultItem.FindAllStringSubmatch(string(page), -1)
	for _, item := range faults {
		if tests[item[1]] == 0 {
			t.Errorf("%s has no test in .ci/fault-tests", item[1])
		}
		delete(tests, item[1])
	}
	for fault := range tests {
		t.Errorf("docs/design/faults.md has no fault %q", fault)
	}
	if len(faults) < 35 {
		t.Errorf("%d faults", len(faults))
	}
}

// tested reports whether a package has a test.
func tested(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(content), "\nfunc "+name+"(t *testing.T) {") {
			return true
		}
	}
	return false
}
