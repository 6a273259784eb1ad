package repository_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFaultTable compares docs/design/faults.md with .ci/fault-tests: each fault has at least one existing test there, and each test a
// fault here.
func TestFaultTable(t *testing.T) {
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
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || strings.Trim(cells[1], " -") == "" || strings.TrimSpace(cells[1]) == "fault" {
			continue
		}
		rows++
		fault := strings.TrimSpace(cells[1])
		if tests[fault] == 0 {
			t.Errorf("%s has no test in .ci/fault-tests", fault)
		}
		delete(tests, fault)
		if strings.TrimSpace(cells[2]) == "" {
			t.Errorf("a row says too little: %s", line)
		}
	}
	for fault := range tests {
		t.Errorf("docs/design/faults.md has no row %q", fault)
	}
	if rows < 35 {
		t.Errorf("%d rows", rows)
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
