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

// TestFaultTable compares docs/design/faults.md with the tests: each row names at least one existing test.
func TestFaultTable(t *testing.T) {
	page, err := os.ReadFile("../../docs/design/faults.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z0-9/]+) (Test[A-Za-z0-9|]+)`")
	rows := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		if len(cells) != 6 || strings.Trim(cells[1], " -") == "" || strings.TrimSpace(cells[1]) == "fault" {
			continue
		}
		rows++
		shown := strings.ReplaceAll(cells[4], "\x00", "|")
		tests := named.FindAllStringSubmatch(shown, -1)
		if rest := strings.Trim(named.ReplaceAllString(shown, ""), " ,"); rest != "" || len(tests) == 0 {
			t.Errorf("%s names %q as its test", cells[1], shown)
		}
		for _, c := range tests {
			for name := range strings.SplitSeq(c[2], "|") {
				if !tested(t, filepath.Join("../..", c[1]), name) {
					t.Errorf("%s: there is no %s in %s", cells[1], name, c[1])
				}
			}
		}
		if strings.TrimSpace(cells[2]) == "" {
			t.Errorf("a row says too little: %s", line)
		}
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
