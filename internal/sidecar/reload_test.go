package sidecar

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/delegraph/delegraph/config"
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

// TestForgetWithheld checks that the record of what an upstream's streams withheld is kept while a source has that
// upstream.
func TestForgetWithheld(t *testing.T) {
	const kept, removed = "http://127.0.0.1:1", "http://127.0.0.1:2"
	var s Sidecar
	first := s.withheldOf(kept)
	first.Add(1)
	s.withheldOf(removed).Add(1)
	s.config.Sources = []config.Source{{Name: "renamed", Proxy: &config.Proxy{Upstream: kept}}, {Name: "tail"}}
	s.forgetWithheld()
	if s.withheldOf(kept) != first || !s.withheldOf(removed).IsEmpty() {
		t.Error("the wrong upstream is forgotten")
	}
}
