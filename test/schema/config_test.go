package schema_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/test/schema"
)

var update = flag.Bool("update", false, "rewrite config/schema.json")

const (
	configFolder = "../../config/"
	configSchema = configFolder + "schema.json"
)

// TestConfigSchema checks that config/schema.json is that of the Go types, of the comments of example.yml, and of what check says about
// wrong values.
func TestConfigSchema(t *testing.T) {
	source, err := schema.ReadSource(configFolder)
	if err != nil {
		t.Fatal(err)
	}
	g := generator{t: t, source: source, comments: exampleComments(t), defaults: parseYAML(t, config.Default().String())}
	written := g.value(reflect.TypeFor[config.Config](), "", false)
	written["$schema"] = "http://json-schema.org/draft-07/schema#" // the newest that editors know
	written["title"] = "Configuration of Delegraph"
	if err := schema.Compare(configSchema, written, *update); err != nil {
		t.Error(err)
	}
}

// generator writes the schema of the configuration.
type generator struct {
	t        *testing.T
	source   *schema.Source
	comments map[string]string // of example.yml, by key
	defaults any
}

// Patterns of values that check reads from text.
const (
	durationPattern = `^\+?(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`
	sizePattern     = `^([0-9]+(\.[0-9]*)?|\.[0-9]+) *(B|KiB|MiB|GiB)?$`
)

// value returns the schema of a type at a key. omissible permits null, which is the same as leaving the key out.
func (g generator) value(t reflect.Type, key string, omissible bool) schema.Schema {
	out := schema.Schema{}
	switch {
	case t == reflect.TypeFor[time.Duration]():
		out["type"], out["pattern"] = "string", durationPattern
	case t == reflect.TypeFor[config.Bytes]():
		out["anyOf"] = []any{schema.Schema{"type": "integer", "minimum": 0}, schema.Schema{"type": "string", "pattern": sizePattern}}
	case t.Kind() == reflect.Pointer:
		out = g.value(t.Elem(), key, false)
	case t.Kind() == reflect.Struct:
		g.object(out, t, key)
	case t.Kind() == reflect.Slice:
		out["type"], out["items"] = "array", g.value(t.Elem(), key+"[0]", false)
	case t.Kind() == reflect.Map:
		out["type"], out["additionalProperties"] = "object", g.value(t.Elem(), join(key, "x"), false)
	default:
		out["type"] = map[reflect.Kind]string{reflect.String: "string", reflect.Int: "integer", reflect.Float64: "number", reflect.Bool: "boolean"}[t.Kind()]
		g.bounds(out, t, key)
	}
	switch key {
	case "sources[0].custom.paths":
		out["propertyNames"] = schema.Schema{"enum": texts(settings.KnownNames().Paths)}
	case "sources[0].custom.frames":
		out["minProperties"] = 1
	}
	if kind, ok := out["type"].(string); ok && omissible {
		out["type"] = []any{kind, "null"}
	}
	return out
}

func (g generator) object(out schema.Schema, t reflect.Type, key string) {
	members, required := schema.Schema{}, []any{}
	out["type"], out["additionalProperties"], out["properties"] = "object", false, members
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		at := join(key, name)
		member := g.value(f.Type, at, options == "omitempty")
		if member["description"] = g.comments[at]; member["description"] == "" {
			member["description"] = g.source.Comment(t.Name(), f.Name)
		}
		if v, has := lookup(g.defaults, at); has && f.Type.Kind() != reflect.Struct {
			member["default"] = v
		}
		members[name] = member
	}
	for _, mistake := range mistakes(probe(key, map[string]any{})) {
		if child, inner := strings.CutPrefix(mistake.Key, key+"."); inner && strings.HasPrefix(mistake.Problem, "missing") && members[child] != nil && child != "proxy" {
			required = append(required, child)
		}
	}
	if key == "sources[0].custom" {
		required = append(required, "frames")
	}
	if len(required) > 0 {
		out["required"] = required
	}
	if t == reflect.TypeFor[config.CustomFrame]() {
		out["allOf"] = framePaths()
	}
	if t == reflect.TypeFor[config.Source]() { // exactly one of the two
		one := func(name string) schema.Schema {
			return schema.Schema{"required": []any{name}, "properties": schema.Schema{name: schema.Schema{"type": "object"}}}
		}
		out["oneOf"] = []any{one("proxy"), one("tail")}
	}
}

// framePaths returns, for each meaning of a custom frame, the names of its paths.
func framePaths() (rules []any) {
	known := settings.KnownNames()
	for _, m := range known.Meanings {
		var names []any
		for _, either := range m.Required {
			names = append(names, texts(strings.Split(either, "|"))...)
		}
		names = append(names, texts(m.Optional)...)
		for _, name := range known.Paths {
			if name != "type" { // the type is at the same path in all frames
				names = append(names, name)
			}
		}
		rules = append(rules, schema.Schema{
			"if":   schema.Schema{"properties": schema.Schema{"means": schema.Schema{"const": m.Name}}, "required": []any{"means"}},
			"then": schema.Schema{"properties": schema.Schema{"paths": schema.Schema{"propertyNames": schema.Schema{"enum": names}}}},
		})
	}
	return rules
}

var fromTo = regexp.MustCompile(`^give a value from (\S+) to (\S+)$`)

// bounds adds what check says about a value that is none of the known ones, or too small.
func (g generator) bounds(out schema.Schema, t reflect.Type, key string) {
	bogus := map[reflect.Kind]any{reflect.String: "zzzzqqqq", reflect.Int: -1 << 40, reflect.Float64: 99.5}[t.Kind()]
	if bogus == nil || strings.HasSuffix(key, ".paths.x") { // check refuses the name x there, not the value
		return
	}
	for _, mistake := range mistakes(probe(key, bogus)) {
		if mistake.Key != key {
			continue
		}
		if names, isList := strings.CutPrefix(mistake.Remedy, "use one of "); isList {
			out["enum"] = texts(strings.Split(names, ", "))
		}
		if found := fromTo.FindStringSubmatch(mistake.Remedy); found != nil {
			for i, word := range []string{"minimum", "maximum"} {
				n, err := strconv.ParseFloat(found[i+1], 64)
				if err != nil {
					g.t.Fatal(err)
				}
				out[word] = n
			}
		}
	}
}

// probe returns a configuration that is valid except for the value at a key.
func probe(key string, value any) string {
	source := map[string]any{"name": "a", "proxy": map[string]any{"listen": ":8080", "upstream": "http://127.0.0.1:8000", "paths": []any{"/a"}}}
	switch {
	case strings.HasPrefix(key, "sources[0].tail"):
		source = map[string]any{"name": "a", "tail": map[string]any{"url": "http://127.0.0.1:3000/"}}
	case strings.HasPrefix(key, "sources[0].custom"):
		source["dialect"], source["custom"] = "custom", map[string]any{"frames": map[string]any{"x": map[string]any{"means": "run_started"}}}
	}
	root := map[string]any{"sources": []any{source}}
	return printYAML(set(root, split(key), value))
}

// set returns a value with another one at a path.
func set(in any, path []string, value any) any {
	if len(path) == 0 {
		return value
	}
	if list, isList := in.([]any); isList || path[0] == "0" && in == nil {
		index, _ := strconv.Atoi(path[0])
		list = append(slices.Clone(list), make([]any, max(index+1-len(list), 0))...)
		list[index] = set(list[index], path[1:], value)
		return list
	}
	members, _ := in.(map[string]any)
	out := map[string]any{}
	maps.Copy(out, members)
	out[path[0]] = set(members[path[0]], path[1:], value)
	return out
}

func split(key string) []string {
	return strings.FieldsFunc(key, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

func lookup(in any, key string) (any, bool) {
	for _, name := range split(key) {
		members, _ := in.(map[string]any)
		v, has := members[name]
		if !has {
			return nil, false
		}
		in = v
	}
	return in, true
}

func join(key, name string) string { return strings.TrimPrefix(key+"."+name, ".") }

func texts(names []string) (out []any) {
	for _, n := range names {
		out = append(out, n)
	}
	return out
}

// mistakes returns what check says about a configuration.
func mistakes(text string) (all []*config.Error) {
	_, err := config.Parse("probe.yml", []byte(text), settings.KnownNames())
	var collect func(error)
	collect = func(err error) {
		var one *config.Error
		if many, ok := err.(interface{ Unwrap() []error }); ok {
			for _, each := range many.Unwrap() {
				collect(each)
			}
		} else if errors.As(err, &one) {
			all = append(all, one)
		}
	}
	collect(err)
	return all
}

// exampleComments maps the keys of example.yml, with [0] for every index, to the comments on their lines.
func exampleComments(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile(configFolder + "example.yml")
	if err != nil {
		t.Fatal(err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil {
		t.Fatal(err)
	}
	lines, comments := strings.Split(string(data), "\n"), map[string]string{}
	var walk func(node *yaml.Node, key string)
	walk = func(node *yaml.Node, key string) {
		switch node.Kind {
		case yaml.SequenceNode:
			for _, item := range node.Content {
				walk(item, key+"[0]")
			}
		case yaml.MappingNode:
			for pair := range slices.Chunk(node.Content, 2) {
				path := join(key, pair[0].Value)
				if _, comment, has := strings.Cut(lines[pair[0].Line-1], " # "); has && comments[path] == "" {
					comments[path] = comment
				}
				walk(pair[1], path)
			}
		}
	}
	walk(document.Content[0], "")
	return comments
}

// parseYAML parses a configuration as an editor does, into what encoding/json would decode.
func parseYAML(t *testing.T, text string) any {
	t.Helper()
	v, err := decodeYAML(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func decodeYAML(text string) (any, error) {
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return nil, err
	}
	return plain(v), nil
}

func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = plain(member)
		}
	case map[any]any:
		out := map[string]any{}
		for name, member := range v {
			out[fmt.Sprint(name)] = plain(member)
		}
		return out
	case []any:
		for i, element := range v {
			v[i] = plain(element)
		}
	case time.Time:
		return v.Format(time.DateOnly) // text for an editor: YAML 1.2 has no dates
	case int, int64, uint64, float64:
		encoded, err := json.Marshal(v)
		var n float64
		if err != nil || json.Unmarshal(encoded, &n) != nil {
			return fmt.Sprint(v) // such as .inf
		}
		return n
	}
	return v
}

func printYAML(v any) string {
	text, err := yaml.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
