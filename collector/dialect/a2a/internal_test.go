package a2a_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/exporter/stream/filter"
)

// TestInternalRecordings checks that nothing leaves of the internal events of real servers. Each frame of them has CANARY.
func TestInternalRecordings(t *testing.T) {
	files, _ := filepath.Glob("testdata/internal/*.sse")
	if len(files) == 0 {
		t.Fatal("no recordings")
	}
	for _, file := range files {
		recorded, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		frames := strings.SplitAfter(strings.TrimSpace(string(recorded)), "\r\n\r\n")
		for _, settings := range []filter.Settings{client, public} {
			for i, got := range filterStream(t, settings, string(recorded)) {
				if strings.HasPrefix(got, withheld) != strings.Contains(frames[i], "CANARY") {
					t.Errorf("%s, frame %d, under %s: the output is %s", file, i+1, settings.Policy, got)
				}
			}
		}
	}
}
