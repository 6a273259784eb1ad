// Package recorded has the recorded streams of real agents, and an agent that answers with them.
package recorded

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector"
)

// Captures are the folders of recorded streams, by the name of their golden file: those of each dialect, and of the ADK those of each
// language. They are relative to packages of test/e2e.
var Captures = func() map[string]string {
	all := map[string]string{"adk-go": "../../../test/agents/adk-go"}
	for _, d := range collector.Dialects() {
		all[d.Name()] = "../../../collector/dialect/" + d.Name() + "/testdata"
	}
	delete(all, "adk")
	for _, language := range []string{"python", "js"} {
		all["adk-"+language] = "../../../collector/dialect/adk/adkserver/testdata/captures/" + language
	}
	return all
}()

// Families returns the names of the folders of a dialect.
func Families(dialect string) (names []string) {
	for name := range Captures {
		if name == dialect || strings.HasPrefix(name, dialect+"-") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
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
