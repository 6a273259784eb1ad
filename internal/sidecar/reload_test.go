package sidecar

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestRereadable checks that pipes and devices are not read again.
func TestRereadable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "delegraph.yml")
	link, pipe := file+".link", file+".pipe"
	for _, err := range []error{os.WriteFile(file, nil, 0o600), os.Symlink(file, link), syscall.Mkfifo(pipe, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]bool{file: true, link: true, file + ".none": true, filepath.Dir(file): true, pipe: false, os.DevNull: false} {
		if got := rereadable(file); got != want {
			t.Errorf("rereadable(%q) = %t, want %t", file, got, want)
		}
	}
}
