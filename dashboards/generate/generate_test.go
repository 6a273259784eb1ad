package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the dashboards")

// TestCheckedIn compares the checked-in dashboards with the generated ones.
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
			t.Errorf("%s is out of date: go run ./dashboards/generate -out dashboards", name)
		}
	}
	found, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil || len(found) != len(boards) {
		t.Errorf("%d dashboards are checked in, %d are written (%v)", len(found), len(boards), err)
	}
}
