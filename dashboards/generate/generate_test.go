package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the dashboards")

// TestCheckedIn holds the dashboards that people import against what the generator writes.
func TestCheckedIn(t *testing.T) {
	const folder = ".."
	if *update {
		if err := write(folder); err != nil {
			t.Fatal(err)
		}
	}
	boards, err := files()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range boards {
		got, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the generator writes: go run ./dashboards/generate -out dashboards", name)
		}
	}
	found, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(found) != len(boards) {
		t.Errorf("%d dashboards are checked in, %d are written (%v)", len(found), len(boards), err)
	}
}
