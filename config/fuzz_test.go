package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse checks that a configuration that loads is valid and loads back from its text, and that each error
// has all parts.
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
				t.Errorf("Validate() = %v for a configuration that loads", err)
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
		t.Fatalf("the error %v is a %T, want an *Error", err, err)
	}
	if mistake.File != "fuzz.yml" || mistake.Problem == "" || mistake.Remedy == "" {
		t.Errorf("a part of the error is missing: %#v", mistake)
	}
	lines := 1
	for _, lineBreak := range []string{"\n", "\r", "\u2028", "\u2029"} { // the line breaks of YAML
		lines += strings.Count(string(data), lineBreak)
	}
	if tail := strings.Contains(mistake.Problem, "more mistakes"); mistake.Line > lines || mistake.Line < 1 && !tail {
		t.Errorf("the error %v has the line %d of %d", mistake, mistake.Line, lines)
	}
	if text := mistake.Error(); strings.ContainsAny(text, "\n\r") {
		t.Errorf("the error has more than one line: %q", text)
	}
}
