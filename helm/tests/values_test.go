package tests

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestValuesDescribed checks that values.yaml describes every value: it is the chart's reference.
func TestValuesDescribed(t *testing.T) {
	if n := countDescribed(t, "", mapping(t, filepath.Join(chart, "values.yaml"))); n < 50 {
		t.Errorf("values.yaml has %d values", n)
	}
}

// countDescribed counts the values below a mapping, and fails for one without a comment.
func countDescribed(t *testing.T, prefix string, node *yaml.Node) (n int) {
	t.Helper()
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		name := prefix + key.Value
		if _, _, found := strings.Cut(key.HeadComment, "# -- "); found {
			n++
			continue
		}
		if value.Kind != yaml.MappingNode || len(value.Content) == 0 {
			t.Errorf("%s has no comment that begins with # --", name)
		}
		n += countDescribed(t, name+".", value)
	}
	return n
}

// mapping returns the root of a YAML file.
func mapping(t *testing.T, file string) *yaml.Node {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	return document.Content[0]
}

// schema is the part of values.schema.json that the tests read.
type schema struct {
	Ref                  string            `json:"$ref"`
	Defs                 map[string]schema `json:"$defs"`
	Properties           map[string]schema
	AdditionalProperties any
	Items                *schema
	Enum                 []any
}

func readSchema(t *testing.T) (root schema) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(chart, "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	return root
}

// TestSchemaKeys checks that the schema has exactly the keys of the values and of the configuration.
func TestSchemaKeys(t *testing.T) {
	root := readSchema(t)
	values := keys("", mapping(t, filepath.Join(chart, "values.yaml")))
	values = slices.DeleteFunc(values, func(key string) bool { return strings.HasPrefix(key, "config.") })
	declared := slices.DeleteFunc(root.keys("", root), func(key string) bool {
		return strings.HasPrefix(key, "config.") || key == "global" || key == "enabled" // Helm's own keys of a dependency
	})
	declared = slices.DeleteFunc(declared, func(key string) bool { return strings.HasPrefix(key, "env.") }) // members of a list that is empty
	// Objects with free keys are not followed.
	values = slices.DeleteFunc(values, func(key string) bool {
		return !slices.Contains(declared, key) && slices.ContainsFunc(declared, func(d string) bool { return strings.HasPrefix(key, d+".") })
	})
	same(t, sorted(values), sorted(declared))

	same(t, sorted(keys("", mapping(t, "../../config/example.yml"))), sorted(root.keys("", root.Properties["config"])))
}

func sorted(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// keys returns the paths of a document's keys. The members of a list share a path.
func keys(prefix string, node *yaml.Node) (all []string) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i < len(node.Content); i += 2 {
			name := prefix + node.Content[i].Value
			if strings.HasSuffix(prefix, "headers.") || prefix == "sources.custom.frames." || prefix == "sources.custom.paths." {
				continue // any name
			}
			all = append(append(all, name), keys(name+".", node.Content[i+1])...)
		}
	case yaml.SequenceNode:
		for _, item := range node.Content {
			all = append(all, keys(prefix, item)...)
		}
	}
	return all
}

func (root schema) keys(prefix string, s schema) (all []string) {
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		s = root.Defs[name]
	}
	for _, name := range slices.Collect(maps.Keys(s.Properties)) {
		all = append(append(all, prefix+name), root.keys(prefix+name+".", s.Properties[name])...)
	}
	if s.Items != nil {
		all = append(all, root.keys(prefix, *s.Items)...)
	}
	return all
}
