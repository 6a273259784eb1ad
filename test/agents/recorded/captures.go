// Package recorded has the recorded streams of real agents, and an agent that answers with them.
package recorded

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"
)

// Captures are the folders of recorded streams, by the name of their golden file. They are relative to packages of test/e2e.
var Captures = map[string]string{
	"adk-go":     "../../../test/agents/adk-go",
	"adk-python": "../../../collector/dialect/adk/adkserver/testdata/captures/python",
	"adk-js":     "../../../collector/dialect/adk/adkserver/testdata/captures/js",
	"looopy":     "../../../collector/dialect/looopy/testdata",
	"adkstudio":  "../../../collector/dialect/adkstudio/testdata",
	"deepagents": "../../../collector/dialect/deepagents/testdata",
	"a2a":        "../../../collector/dialect/a2a/testdata",
	"langgraph":  "../../../collector/dialect/langgraph/testdata",
	"agui":       "../../../collector/dialect/agui/testdata",
	"aisdk":      "../../../collector/dialect/aisdk/testdata",
	"openai":     "../../../collector/dialect/openai/testdata",
}

// ADKCaptures are the folders of recordings of ADK servers.
var ADKCaptures = func() map[string]string {
	only := maps.Clone(Captures)
	maps.DeleteFunc(only, func(family, _ string) bool { return !strings.HasPrefix(family, "adk-") })
	return only
}()

// Files returns the recordings in a folder.
func Files(t testing.TB, folder string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.sse"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures in %s: %v", folder, err)
	}
	return files
}
