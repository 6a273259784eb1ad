package dashboards_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// strict is a TypeScript configuration that checks only our own files.
const strict = `{"compilerOptions": {"strict": true, "noEmit": true, "skipLibCheck": true, "module": "preserve", "moduleResolution": "bundler", "target": "es2022", "types": []}}`

// TestSchema checks the dashboards against the types of Grafana's own packages.
func TestSchema(t *testing.T) {
	packages := npm(t, "@grafana/schema")
	compiler := filepath.Join(packages, "typescript", "bin", "tsc")
	types, err := os.ReadFile("testdata/schema/dashboard.ts")
	if err != nil {
		t.Fatal(err)
	}
	compile := func(boards map[string][]byte) (string, error) {
		folder := t.TempDir()
		if err := os.Symlink(packages, filepath.Join(folder, "node_modules")); err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{"tsconfig.json": []byte(strict), "dashboard.ts": types}
		for name, content := range boards {
			files[name+".ts"] = slices.Concat([]byte("import type { Dashboard } from './dashboard';\nexport const board: Dashboard = "), content)
		}
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		said, err := exec.CommandContext(t.Context(), "node", compiler, "-p", folder).CombinedOutput()
		return string(said), err
	}
	read := func(name string) []byte {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	agents, itself := read("agents.json"), read("delegraph.json")
	if said, err := compile(map[string][]byte{"agents": agents, "delegraph": itself}); err != nil {
		t.Errorf("%v:\n%s", err, said)
	}
	broken := map[string][]byte{}
	for name, change := range map[string][2]string{
		"a": {`"drawStyle": "line"`, `"drawStyle": "lines"`},
		"b": {`"colorMode": "value"`, `"colourMode": "value"`},
		"c": {`"type": "nodeGraph"`, `"type": "nodegraph"`},
		"d": {`"schemaVersion": 38`, `"schemaVersion": "38"`},
		"e": {`"exemplar": true`, `"exemplars": true`},
		"f": {`"tagKeys": "severity,source"`, `"tags": "severity,source"`},
	} {
		if broken[name] = bytes.Replace(agents, []byte(change[0]), []byte(change[1]), 1); bytes.Equal(broken[name], agents) {
			t.Errorf("the dashboard does not contain %s", change[0])
		}
	}
	said, err := compile(broken)
	for name := range broken {
		if err == nil || !strings.Contains(said, name+".ts(") {
			t.Errorf("the types accept %s: %v, %s", name, err, said)
		}
	}
}

// npm returns the folder of an npm package that Grafana publishes.
func npm(t *testing.T, name string) string {
	t.Helper()
	packages := filepath.Join(installed(t, "grafana"), "node_modules")
	if _, err := os.Stat(filepath.Join(packages, filepath.FromSlash(name))); err != nil {
		missing(t, name+" is not in "+packages+": run .ci/install/grafana")
	}
	return packages
}
