// Package schema writes JSON Schemas of Go types and checks values against schemas. It knows only the keywords of the project's schemas.
package schema

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Schema is a JSON Schema, or a part of one, as encoding/json decodes it.
type Schema = map[string]any

// Check returns how a value breaks a schema, or "". The value is as encoding/json decodes it.
func Check(s Schema, v any) string { return checker{s}.check(s, v) }

// checker resolves references within the root schema.
type checker struct{ root Schema }

func (c checker) check(s Schema, v any) string {
	for _, word := range slices.Sorted(maps.Keys(s)) {
		if fault := c.rule(s, word, v); fault != "" {
			return fault
		}
	}
	return ""
}

// annotations are keywords that refuse nothing.
var annotations = []string{"$schema", "$id", "$defs", "title", "description", "markdownDescription", "default", "then"}

func (c checker) rule(s Schema, word string, v any) string {
	rule := s[word]
	switch word {
	case "$ref":
		name := strings.TrimPrefix(rule.(string), "#/$defs/")
		return c.check(c.root["$defs"].(Schema)[name].(Schema), v)
	case "type":
		return checkType(rule, v)
	case "enum":
		if !slices.Contains(rule.([]any), v) {
			return fmt.Sprintf("%v is none of %v", v, rule)
		}
	case "const":
		if v != rule {
			return fmt.Sprintf("%v is not %v", v, rule)
		}
	case "minimum", "maximum", "minItems", "maxItems", "minProperties", "maxProperties":
		return checkBound(word, rule.(float64), v)
	case "minLength", "maxLength", "pattern":
		return checkText(word, rule, v)
	case "required", "properties", "additionalProperties", "propertyNames":
		if members, ok := v.(Schema); ok {
			return c.members(s, word, members)
		}
	case "items":
		elements, _ := v.([]any)
		for i, element := range elements {
			if fault := c.check(rule.(Schema), element); fault != "" {
				return fmt.Sprintf("[%d]: %s", i, fault)
			}
		}
	case "if":
		if then, has := s["then"].(Schema); has && c.check(rule.(Schema), v) == "" {
			return c.check(then, v)
		}
	case "allOf", "anyOf", "oneOf":
		return c.combined(word, rule.([]any), v)
	default:
		if !slices.Contains(annotations, word) {
			return "the check does not know the keyword " + word
		}
	}
	return ""
}

// checkType checks a value against a type or a list of types.
func checkType(rule, v any) string {
	types, isList := rule.([]any)
	if !isList {
		types = []any{rule}
	}
	number, isNumber := v.(float64)
	is := map[any]bool{"number": isNumber, "integer": isNumber && number == math.Trunc(number), "null": v == nil}
	_, is["string"] = v.(string)
	_, is["object"] = v.(Schema)
	_, is["array"] = v.([]any)
	_, is["boolean"] = v.(bool)
	if !slices.ContainsFunc(types, func(t any) bool { return is[t] }) {
		return fmt.Sprintf("%v is no %v", v, rule)
	}
	return ""
}

func checkBound(word string, bound float64, v any) string {
	var n float64
	switch v := v.(type) {
	case float64:
		if !strings.HasSuffix(word, "mum") {
			return ""
		}
		n = v
	case []any:
		if !strings.HasSuffix(word, "Items") {
			return ""
		}
		n = float64(len(v))
	case Schema:
		if !strings.HasSuffix(word, "Properties") {
			return ""
		}
		n = float64(len(v))
	default:
		return ""
	}
	if strings.HasPrefix(word, "min") && n < bound || strings.HasPrefix(word, "max") && n > bound {
		return fmt.Sprintf("%v breaks %s %v", n, word, bound)
	}
	return ""
}

func checkText(word string, rule, v any) string {
	text, isText := v.(string)
	length := utf8.RuneCountInString(text)
	switch {
	case !isText:
	case word == "pattern" && !regexp.MustCompile(rule.(string)).MatchString(text),
		word == "minLength" && length < int(rule.(float64)), word == "maxLength" && length > int(rule.(float64)):
		return fmt.Sprintf("%q breaks %s %v", text, word, rule)
	}
	return ""
}

func (c checker) members(s Schema, word string, members Schema) string {
	switch rule := s[word]; word {
	case "required":
		for _, name := range rule.([]any) {
			if _, there := members[name.(string)]; !there {
				return fmt.Sprintf("%v is missing", name)
			}
		}
	case "propertyNames":
		for name := range members {
			if fault := c.check(rule.(Schema), name); fault != "" {
				return fault
			}
		}
	case "properties":
		for name, inner := range rule.(Schema) {
			if member, there := members[name]; there {
				if fault := c.check(inner.(Schema), member); fault != "" {
					return name + ": " + fault
				}
			}
		}
	case "additionalProperties":
		known, _ := s["properties"].(Schema)
		for name, member := range members {
			if _, isKnown := known[name]; isKnown {
				continue
			}
			if rule == false {
				return name + " is not known"
			}
			if inner, ok := rule.(Schema); ok {
				if fault := c.check(inner, member); fault != "" {
					return name + ": " + fault
				}
			}
		}
	}
	return ""
}

func (c checker) combined(word string, parts []any, v any) string {
	var faults []string
	for _, part := range parts {
		if fault := c.check(part.(Schema), v); fault != "" {
			faults = append(faults, fault)
		}
	}
	passed := len(parts) - len(faults)
	if word == "allOf" && len(faults) > 0 || word == "anyOf" && passed == 0 || word == "oneOf" && passed != 1 {
		return fmt.Sprintf("%d of %d parts pass: %s", passed, len(parts), strings.Join(faults, "; "))
	}
	return ""
}
