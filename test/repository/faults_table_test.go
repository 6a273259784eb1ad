package repository_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
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

// TestFuzzTable checks that docs/design/security.md lists every fuzz target once, with its package.
func TestFuzzTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/design/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Parsers\n")
	named := map[string]int{}
	for _, group := range regexp.MustCompile("((?:`Fuzz[A-Za-z0-9]+`(?:, )?)+) in `\\./([a-z0-9/]+)`").FindAllStringSubmatch(table, -1) {
		for _, target := range regexp.MustCompile("Fuzz[A-Za-z0-9]+").FindAllString(group[1], -1) {
			named[group[2]+" "+target]++
		}
	}
	targets := regexp.MustCompile(`(?m)^func (Fuzz[A-Za-z0-9]+)\(f \*testing\.F\)`)
	err = fs.WalkDir(os.DirFS("../.."), ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		content, err := os.ReadFile(filepath.Join("../..", file))
		for _, target := range targets.FindAllStringSubmatch(string(content), -1) {
			name := path.Dir(file) + " " + target[1]
			if named[name] != 1 {
				t.Errorf("%s is %d times in the table of parsers", name, named[name])
			}
			delete(named, name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for name := range named {
		t.Errorf("there is no %s", name)
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
