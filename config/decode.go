package config

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// decoder fills settings from YAML nodes. The YAML package's own decoder follows aliases, converts types
// silently, and reports neither key nor remedy.
type decoder struct{ report *report }

// valueKind describes a kind of value for error messages.
type valueKind struct{ noun, remedy string }

var (
	aText     = valueKind{"text", "put it in quotes"}
	aNumber   = valueKind{"a whole number", "write it in decimal digits, without quotes"}
	aFraction = valueKind{"a number", "write it as 0.5, without quotes"}
	aSwitch   = valueKind{"true or false", "write one of the two, without quotes"}
	aDuration = valueKind{"a duration such as 30m", "write numbers with the units ms, s, m and h"}
	aSize     = valueKind{"a size such as 8MiB", "write a number with the unit B, KiB, MiB or GiB"}
	aList     = valueKind{"a list", "write [first, second], or one \"- item\" a line"}
	aMap      = valueKind{"a map", "write its keys indented below, or {key: value}"}
)

// value decodes node into the settable value. If it cannot, it reports a mistake and leaves the value
// unchanged.
func (d decoder) value(node *yaml.Node, key string, into reflect.Value) {
	if problem, remedy := unsupported(node); problem != "" {
		d.report.unreadable(key, problem, remedy)
		return
	}
	switch target := into.Addr().Interface().(type) {
	case *string:
		scalar(d, node, key, target, aText, func(text string) (string, error) { return text, nil }, "!!str")
	case *int:
		scalar(d, node, key, target, aNumber, parseNumber, "!!int")
	case *float64:
		scalar(d, node, key, target, aFraction, parseFraction, "!!int", "!!float")
	case *bool:
		scalar(d, node, key, target, aSwitch, parseSwitch, "!!bool")
	case *time.Duration:
		scalar(d, node, key, target, aDuration, parseDuration, "!!str")
	case *Bytes:
		scalar(d, node, key, target, aSize, ParseBytes, "!!str", "!!int", "!!float")
	default:
		d.container(node, key, into)
	}
}

func (d decoder) container(node *yaml.Node, key string, into reflect.Value) {
	switch into.Kind() {
	case reflect.Pointer:
		target := reflect.New(into.Type().Elem())
		if tail, ok := target.Interface().(*Tail); ok {
			*tail = defaultTail()
		}
		d.value(node, key, target.Elem())
		into.Set(target)
	case reflect.Map:
		d.entries(node, key, into)
	case reflect.Slice:
		d.list(node, key, into)
	case reflect.Struct:
		d.fields(node, key, into)
	default:
		panic("config: no way to read a field of type " + into.Type().String())
	}
}

func (d decoder) list(node *yaml.Node, key string, into reflect.Value) {
	if node.Kind != yaml.SequenceNode {
		d.mismatch(node, key, aList)
		return
	}
	into.Set(reflect.MakeSlice(into.Type(), 0, len(node.Content)))
	for i, item := range node.Content {
		element := reflect.New(into.Type().Elem())
		if source, ok := element.Interface().(*Source); ok {
			*source = defaultSource()
		}
		itemKey := fmt.Sprintf("%s[%d]", key, i)
		d.report.lines[itemKey] = item.Line
		d.value(item, itemKey, element.Elem())
		into.Set(reflect.Append(into, element.Elem()))
	}
}

func (d decoder) fields(node *yaml.Node, key string, into reflect.Value) {
	if node.Kind != yaml.MappingNode {
		d.mismatch(node, key, aMap)
		return
	}
	given, keys := make(map[string]int), keysOf(node)
	for pair := range slices.Chunk(node.Content, 2) {
		name, value := pair[0], pair[1]
		path := join(key, name.Value)
		d.report.lines[path] = name.Line
		if problem, remedy := unusableKey(name, given); problem != "" {
			d.report.unreadable(path, problem, remedy)
			continue
		}
		given[name.Value] = name.Line
		field, omissible, known := fieldNamed(into, name.Value)
		switch {
		case !known:
			d.unknown(key, name.Value, into.Type(), keys)
		case isNull(value) && omissible:
		default:
			d.value(value, path, field)
		}
	}
}

// entries decodes a map with arbitrary keys.
func (d decoder) entries(node *yaml.Node, key string, into reflect.Value) {
	if node.Kind != yaml.MappingNode {
		d.mismatch(node, key, aMap)
		return
	}
	into.Set(reflect.MakeMap(into.Type()))
	given := make(map[string]int)
	for pair := range slices.Chunk(node.Content, 2) {
		name, value := pair[0], pair[1]
		path := join(key, name.Value)
		d.report.lines[path] = name.Line
		if problem, remedy := unusableKey(name, given); problem != "" {
			d.report.unreadable(path, problem, remedy)
			continue
		}
		given[name.Value] = name.Line
		element := reflect.New(into.Type().Elem())
		d.value(value, path, element.Elem())
		into.SetMapIndex(reflect.ValueOf(name.Value), element.Elem())
	}
}

func unusableKey(name *yaml.Node, given map[string]int) (problem, remedy string) {
	if problem, remedy := unsupported(name); problem != "" {
		return problem, remedy
	}
	if name.Kind != yaml.ScalarNode {
		return "expected a key, found " + describe(name), aMap.remedy
	}
	if line := given[name.Value]; line > 0 {
		return fmt.Sprintf("duplicate key, first given on line %d", line), "keep one of the two"
	}
	return "", ""
}

// unknown reports a key that no field has. It also marks the field that was probably meant, so that it is
// not reported as missing.
func (d decoder) unknown(key, name string, settings reflect.Type, given map[string]bool) {
	var names, absent []string
	for field := range settings.Fields() {
		fieldName, _ := yamlName(field)
		names = append(names, fieldName)
		if !given[fieldName] {
			absent = append(absent, fieldName)
		}
	}
	remedy := "the keys here are " + strings.Join(names, ", ")
	if meant := closest(name, absent); meant != "" {
		remedy = fmt.Sprintf("did you mean %q?", meant)
		d.report.unread[join(key, meant)] = true
	}
	d.report.unreadable(join(key, name), "unknown key", remedy)
}

func scalar[T any](
	d decoder, node *yaml.Node, key string, into *T, expected valueKind, parse func(string) (T, error), tags ...string,
) {
	if node.Kind != yaml.ScalarNode || !slices.Contains(tags, node.Tag) {
		d.mismatch(node, key, expected)
		return
	}
	value, err := parse(node.Value)
	if err != nil {
		d.report.unreadable(key, err.Error(), expected.remedy)
		return
	}
	*into = value
}

func (d decoder) mismatch(node *yaml.Node, key string, expected valueKind) {
	remedy := expected.remedy
	switch {
	case isNull(node):
		remedy = "give a value, or leave the key out"
	case expected == aText && node.Kind != yaml.ScalarNode:
		remedy = "give one value"
	}
	d.report.unreadable(key, fmt.Sprintf("expected %s, found %s", expected.noun, describe(node)), remedy)
}

// parseNumber refuses 010, 0x10, 1_000 and +1, which YAML parsers interpret differently.
func parseNumber(text string) (int, error) {
	number, err := strconv.Atoi(text)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%.60q is out of range", text)
	case err != nil || strconv.Itoa(number) != text:
		return 0, fmt.Errorf("%.60q is not a whole number in plain digits", text)
	}
	return number, nil
}

// parseFraction refuses .inf, .nan and forms that YAML parsers interpret differently.
func parseFraction(text string) (float64, error) {
	number, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "0123456789.") != "" {
		return 0, fmt.Errorf("%.60q is not a number such as 0.5", text)
	}
	return number, nil
}

// parseSwitch refuses yes, on and True, which YAML parsers interpret differently.
func parseSwitch(text string) (bool, error) {
	if text != "true" && text != "false" {
		return false, fmt.Errorf("%.60q is not true or false", text)
	}
	return text == "true", nil
}

func parseDuration(text string) (time.Duration, error) {
	duration, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%.60q is not a duration such as 30m", text)
	}
	return duration, nil
}

func unsupported(node *yaml.Node) (problem, remedy string) {
	switch {
	case node.Kind == yaml.AliasNode:
		return "aliases are not supported", "write the value out, or put it in quotes"
	case node.Anchor != "":
		return "anchors are not supported", fmt.Sprintf("remove &%.60s", node.Anchor)
	case node.Tag == "!!merge":
		return "merge keys are not supported", "write the keys out"
	case node.Style&yaml.TaggedStyle != 0:
		return "tags are not supported", fmt.Sprintf("remove %.60q, or put the value in quotes", node.Tag)
	}
	return "", ""
}

func describe(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	}
	switch node.Tag {
	case "!!null":
		return "nothing"
	case "!!int", "!!float":
		return fmt.Sprintf("the number %.60s", node.Value)
	case "!!bool":
		return node.Value
	case "!!timestamp":
		return fmt.Sprintf("the date %.60s", node.Value)
	}
	return "text" // never the text itself: it may be a URL with a password in it
}

func isNull(node *yaml.Node) bool {
	return node.Kind == yaml.ScalarNode && node.Tag == "!!null"
}

func keysOf(mapping *yaml.Node) map[string]bool {
	keys := make(map[string]bool)
	for pair := range slices.Chunk(mapping.Content, 2) {
		keys[pair[0].Value] = true
	}
	return keys
}

func fieldNamed(settings reflect.Value, name string) (value reflect.Value, omissible, known bool) {
	for field, value := range settings.Fields() {
		if fieldName, omissible := yamlName(field); fieldName == name {
			return value, omissible, true
		}
	}
	return reflect.Value{}, false, false
}

// yamlName returns the key of a field, and reports whether null is the same as leaving the key out.
func yamlName(field reflect.StructField) (name string, omissible bool) {
	name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
	return name, options == "omitempty"
}

const maxShownKey = 60

var plainKey = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

func join(key, name string) string {
	if len(name) > maxShownKey || !plainKey.MatchString(name) {
		name = fmt.Sprintf("%.60q", name)
	}
	if key == "" {
		return name
	}
	return key + "." + name
}
