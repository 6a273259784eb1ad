package sidecar

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/delegraph/delegraph/config"
)

// TestHeaderFile checks that the value of a header comes from its file, and that an empty file is an error, not an empty header.
func TestHeaderFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	value := headers(map[string]config.Header{"Authorization": {File: file}})["Authorization"]
	for content, want := range map[string]string{"Bearer one\n": "Bearer one", "": "", "\n": ""} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := value(); got != want || (err == nil) != (want != "") {
			t.Errorf("of the file %q, the value is %q, %v", content, got, err)
		}
	}
}
