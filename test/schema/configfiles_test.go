package schema_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/test/schema"
)

// looksWrong reports whether check refuses a value for its shape: an unknown key, a wrong type, a wrong word, or a number out of bounds.
func looksWrong(found []*config.Error) bool {
	return slices.ContainsFunc(found, func(m *config.Error) bool {
		return m.Problem == "unknown key" || m.Problem == "missing" && !strings.HasSuffix(m.Key, ".custom") && !strings.HasSuffix(m.Key, ".paths") ||
			strings.HasPrefix(m.Problem, "expected ") || strings.HasPrefix(m.Remedy, "use one of ")
	})
}

// TestConfigSchemaAgreesWithCheck puts values of every type at every key. The schema takes what check takes, and refuses what check refuses
// for its shape.
func TestConfigSchemaAgreesWithCheck(t *testing.T) {
	published, err := schema.Read(configSchema)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	var collect func(v any, key string)
	collect = func(v any, key string) {
		keys = append(keys, key)
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				collect(member, join(key, name))
			}
			keys = append(keys, join(key, "unheard_of"))
		case []any:
			for i, element := range v {
				collect(element, fmt.Sprintf("%s[%d]", key, i))
			}
		}
	}
	example, err := os.ReadFile(configFolder + "example.yml")
	if err != nil {
		t.Fatal(err)
	}
	whole := parseYAML(t, string(example))
	collect(whole, "")
	accepted, refused := 0, 0
	for _, key := range keys[1:] {
		for _, value := range []any{
			"", "zzzzqqqq", "public", "1h30m", "+1.5m", "0", "1.5 KiB", "8MB", 0, 1, -1, 1 << 20, 0.5, 2.0, true, nil,
			[]any{}, []any{"text"}, []any{1}, []any{nil}, map[string]any{}, map[string]any{"a": "b"},
		} {
			text := printYAML(set(whole, split(key), value))
			found, fault := mistakes(text), schema.Check(published, parseYAML(t, text))
			switch {
			case len(found) == 0:
				if accepted++; fault != "" {
					t.Errorf("%s: %#v: check takes it, the schema does not: %s", key, value, fault)
				}
			case looksWrong(found):
				if refused++; fault == "" {
					t.Errorf("%s: %#v: the schema takes it, but check says %v", key, value, found[0])
				}
			}
		}
	}
	if accepted < 100 || refused < 1000 {
		t.Errorf("only %d values were accepted and %d refused", accepted, refused)
	}
}

// TestConfigSchemaOfFiles checks the schema with the tables of package config: it takes the good files, and refuses the bad ones except those
// whose mistake is no matter of shape.
func TestConfigSchemaOfFiles(t *testing.T) {
	published, err := schema.Read(configSchema)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range slices.Concat(configFiles(t, "*.yml"), configFiles(t, "testdata/*.yml"), configFiles(t, "../examples/compose/delegraph.yml")) {
		name := strings.TrimSuffix(filepath.Base(file), ".yml")
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		v, err := decodeYAML(string(content))
		fault := ""
		if err == nil {
			fault = schema.Check(published, v)
		}
		bad, meaning := strings.CutPrefix(name, "invalid-")
		switch {
		case !meaning && (fault != "" || err != nil):
			t.Errorf("%s: the schema refuses it: %v %s", file, err, fault)
		case meaning && slices.Contains(notOfShape, bad) != (err == nil && fault == ""):
			t.Errorf("%s: the schema says %q, %v", bad, fault, err)
		}
	}
}

// notOfShape are the files of config/testdata/invalid-*.yml whose mistake a schema does not see.
var notOfShape = []string{
	// They are of YAML: a schema sees the values after they are read.
	"alias", "anchor", "merge-key", "tag", "tag-escape", "two-documents", "utf16", "date-for-text", "number-octal", "stream-switch-case",
	// They are of meaning: an address, a URL, a name, a list that must not be empty, or two keys that contradict each other.
	"agent-control", "agent-empty", "agent-twice", "custom", "jetstream-credentials", "jetstream-move", "jetstream-no-urls", "jetstream-url", "listen-empty",
	"listen-host", "listen-no-port", "listen-port-name", "listen-port", "listen-shared-localhost", "listen-shared-wildcard", "listen-shared",
	"listen-url", "name-empty", "name-long", "name-space", "name-twice", "no-sources", "path-control", "path-double-star", "path-glob", "path-relative",
	"paths-empty", "size-fraction", "size-overflow", "sources-empty", "stream-author", "stream-certificates", "stream-listen-shared", "stream-listen",
	"stream-open-host", "stream-open", "stream-origin", "stream-state-key", "tail-urls", "upstream-empty", "upstream-fragment", "upstream-itself",
	"upstream-no-host", "upstream-no-scheme", "upstream-port", "upstream-query", "upstream-scheme", "upstream-user-info", "web-trace-host",
	"web-trace-id", "web-trace-long", "web-trace-scheme", "web-trace-space", "web-trace-user",
}

func configFiles(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(configFolder + pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("no file is like %s: %v", pattern, err)
	}
	return files
}
