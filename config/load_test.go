package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLoadFileErrors checks the errors of files that cannot be read.
func TestLoadFileErrors(t *testing.T) {
	folder := t.TempDir()
	large := filepath.Join(folder, "large.yml")
	if err := os.WriteFile(large, []byte(strings.Repeat("#", maxFile+1)), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(folder, "missing.yml")
	for file, want := range map[string]string{
		folder:   "this is a directory; name the file in it",
		large:    "the file is larger than 1 MiB; name a configuration file",
		missing:  "there is no such file; create it, or name the one that you have",
		"a\x00b": "the file cannot be read: invalid argument; name a readable file",
	} {
		_, err := Read(file)
		if err == nil || err.Error() != file+": "+want {
			t.Errorf("Read(%q) = %v, want %s", file, err, want)
		}
	}
}

// TestPermissionDenied checks the error of a file without permission. There is no such file for root.
func TestPermissionDenied(t *testing.T) {
	err := fileError("a.yml", &fs.PathError{Op: "open", Path: "a.yml", Err: syscall.EACCES})
	want := "a.yml: permission to read the file is denied; make it readable for the user that runs this"
	if err.Error() != want {
		t.Errorf("the error is %q, want %q", err, want)
	}
}

// TestErrorParts checks each part of an error.
func TestErrorParts(t *testing.T) {
	text := agent(nil).String() + "metric: {}\n"
	_, err := Parse("delegraph.yml", []byte(strings.Replace(text, "metrics:", "limit:", 1)), known)
	var mistake *Error
	if !errors.As(err, &mistake) {
		t.Fatalf("the error is %v, want an *Error", err)
	}
	want := &Error{
		File: "delegraph.yml", Line: 23, Key: "limit", Problem: "unknown key",
		Remedy: "the keys here are sources, runs, traces, metrics, limits, stream, web",
	}
	if diff := cmp.Diff(want, mistake); diff != "" {
		t.Errorf("the error differs (-want +got):\n%s", diff)
	}
}

// TestTooManyMistakes checks that the number of reported mistakes is limited.
func TestTooManyMistakes(t *testing.T) {
	text := agent(nil).String()
	for i := range maxMistakes + 3 {
		text += fmt.Sprintf("key%d: 1\n", i)
	}
	_, err := Parse("many.yml", []byte(text), known)
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != maxMistakes+1 {
		t.Errorf("the error has %d lines, want %d", len(lines), maxMistakes+1)
	}
	if last, want := lines[len(lines)-1], "many.yml: there are 3 more mistakes; correct these first"; last != want {
		t.Errorf("the last line is %q, want %q", last, want)
	}
}
