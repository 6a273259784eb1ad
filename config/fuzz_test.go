package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.yml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, file := range append(files, "example.yml") {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		config, err := Parse("fuzz.yml", data, known)
		if err == nil {
			if err := config.Validate(known); err != nil {
				t.Errorf("loads, but is not valid: %v", err)
			}
			checkLoadsBack(t, config)
			return
		}
		for _, mistake := range mistakesIn(err) {
			checkMistake(t, mistake, data)
		}
	})
}

func mistakesIn(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

func checkMistake(t *testing.T, err error, data []byte) {
	t.Helper()
	mistake, ok := err.(*Error)
	if !ok {
		t.Fatalf("%T is not *Error: %v", err, err)
	}
	if mistake.File != "fuzz.yml" || mistake.Problem == "" || mistake.Remedy == "" {
		t.Errorf("a part is missing: %#v", mistake)
	}
	lines := 1
	for _, lineBreak := range []string{"\n", "\r", "\u2028", "\u2029"} { // those of YAML
		lines += strings.Count(string(data), lineBreak)
	}
	if tail := strings.Contains(mistake.Problem, "mistakes more"); mistake.Line > lines || mistake.Line < 1 && !tail {
		t.Errorf("line %d of %d: %v", mistake.Line, lines, mistake)
	}
	if text := mistake.Error(); strings.ContainsAny(text, "\n\r") {
		t.Errorf("more than one line: %q", text)
	}
}
