package tests

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The list of values in the chart's README is between these lines.
const (
	listBegins = "<!-- values: written by go test ./... -update in helm/tests -->\n"
	listEnds   = "<!-- /values -->\n"
)

// TestReadme checks that the README lists every value with its default and its comment.
func TestReadme(t *testing.T) {
	file := filepath.Join(chart, "README.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), listBegins)
	_, after, ended := strings.Cut(rest, listEnds)
	if !found || !ended {
		t.Fatal("the README has no place for the values")
	}
	var list strings.Builder
	var rows []valueRow
	describe(t, &rows, "", mapping(t, filepath.Join(chart, "values.yaml")))
	for _, r := range rows {
		fmt.Fprintf(&list, "- %s (`%s`): %s\n", strings.Join(r.names, ", "), r.value, r.text)
	}
	golden(t, file, before+listBegins+list.String()+listEnds+after)
}

// valueRow is a line of the list: values with the same default and the same description.
type valueRow struct {
	names       []string
	value, text string
}

// describe adds each value below a mapping to the rows.
func describe(t *testing.T, rows *[]valueRow, prefix string, node *yaml.Node) {
	t.Helper()
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		name := prefix + key.Value
		_, said, found := strings.Cut(key.HeadComment, "# -- ")
		if !found {
			if value.Kind != yaml.MappingNode || len(value.Content) == 0 {
				t.Errorf("%s has no comment that begins with # --", name)
			}
			describe(t, rows, name+".", value)
			continue
		}
		var plain any
		if err := value.Decode(&plain); err != nil {
			t.Fatal(err)
		}
		shown, err := json.Marshal(plain)
		if err != nil {
			t.Fatal(err)
		}
		name = "`" + name + "`"
		if i := slices.IndexFunc(*rows, func(r valueRow) bool { return r.value == string(shown) && r.text == said }); i >= 0 {
			(*rows)[i].names = append((*rows)[i].names, name)
			continue
		}
		*rows = append(*rows, valueRow{[]string{name}, string(shown), said})
	}
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
