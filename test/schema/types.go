package schema

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Source is what Go source files say about types beyond reflection.
type Source struct {
	comments map[string]string // by "Type" and "Type.Field"
	values   map[string][]any  // of the constants of a string type except "", by its name
}

// ReadSource reads the Go files of folders, without tests.
func ReadSource(folders ...string) (*Source, error) {
	s := &Source{comments: map[string]string{}, values: map[string][]any{}}
	for _, folder := range folders {
		names, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			if err != nil {
				return nil, err
			}
			s.read(file)
		}
	}
	return s, nil
}

func (s *Source) read(file *ast.File) {
	for _, declared := range file.Decls {
		group, ok := declared.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range group.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				s.readType(spec, group.Doc)
			case *ast.ValueSpec:
				s.readConstants(spec)
			}
		}
	}
}

func (s *Source) readType(spec *ast.TypeSpec, doc *ast.CommentGroup) {
	s.comments[spec.Name.Name] = sentence(doc)
	fields, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	for _, f := range fields.Fields.List {
		for _, name := range f.Names {
			comment := sentence(f.Comment)
			if comment == "" {
				comment = sentence(f.Doc)
			}
			s.comments[spec.Name.Name+"."+name.Name] = comment
		}
	}
}

func (s *Source) readConstants(spec *ast.ValueSpec) {
	of, ok := spec.Type.(*ast.Ident)
	if !ok {
		return
	}
	for _, v := range spec.Values {
		if literal, ok := v.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			if text := constant.StringVal(constant.MakeFromLiteral(literal.Value, literal.Kind, 0)); text != "" {
				s.values[of.Name] = append(s.values[of.Name], text)
			}
		}
	}
}

func sentence(g *ast.CommentGroup) string { return strings.Join(strings.Fields(g.Text()), " ") }

// Values returns the values of the constants of a string type.
func (s *Source) Values(name string) []any { return slices.Clone(s.values[name]) }

// Comment returns the comment of a field.
func (s *Source) Comment(typeName, field string) string { return s.comments[typeName+"."+field] }

// Definitions writes the schema of a struct type into defs, together with the schemas of all struct types in it. The
// schemas follow encoding/json: a pointer may be null, and a member is required unless it has omitempty. adjust may
// change the schema of a field. It gets the name of the field as "Type.Field".
func (s *Source) Definitions(t reflect.Type, defs Schema, adjust func(field string, f Schema)) {
	name := typeName(t)
	if _, known := defs[name]; known {
		return
	}
	members, required := Schema{}, []any{}
	object := Schema{"type": "object", "additionalProperties": false, "properties": members}
	if comment := s.comments[t.Name()]; comment != "" {
		object["description"] = withoutName(t.Name(), comment)
	}
	defs[name] = object
	for f := range t.Fields() {
		member, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		kind := f.Type
		if options == "omitempty" && kind.Kind() == reflect.Pointer {
			kind = kind.Elem() // a member without a value is not there
		}
		out := s.value(kind, defs, adjust)
		if comment := s.comments[t.Name()+"."+f.Name]; comment != "" {
			out["description"] = comment
		}
		adjust(t.Name()+"."+f.Name, out)
		members[member] = out
		if options == "" {
			required = append(required, member)
		} else if options != "omitempty" {
			panic("schema: no way to write the option " + options)
		}
	}
	object["required"] = required
}

// withoutName returns the comment of a type as a sentence without its name: "T is a run." becomes "A run.".
func withoutName(name, comment string) string {
	comment = strings.TrimPrefix(strings.TrimPrefix(comment, name+" "), "is ")
	return strings.ToUpper(comment[:1]) + comment[1:]
}

// typeName returns the name of a report's type without its last word. Report itself is a run.
func typeName(t reflect.Type) string {
	if t.Name() == "Report" {
		return "Run"
	}
	return strings.TrimSuffix(t.Name(), "Report")
}

func (s *Source) value(t reflect.Type, defs Schema, adjust func(string, Schema)) Schema {
	switch t.Kind() {
	case reflect.Pointer:
		inner := s.value(t.Elem(), defs, adjust)
		if kind, ok := inner["type"].(string); ok {
			inner["type"] = []any{kind, "null"}
			return inner
		}
		return Schema{"anyOf": []any{inner, Schema{"type": "null"}}}
	case reflect.String:
		out := Schema{"type": "string"}
		if values := s.Values(t.Name()); len(values) > 0 && t != reflect.TypeFor[string]() {
			out["enum"] = values
		}
		return out
	case reflect.Int, reflect.Int64:
		if t == reflect.TypeFor[time.Duration]() {
			panic("schema: a duration has no form in JSON")
		}
		return Schema{"type": "integer"}
	case reflect.Float64:
		return Schema{"type": "number"}
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Slice:
		return Schema{"type": "array", "items": s.value(t.Elem(), defs, adjust)}
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": s.value(t.Elem(), defs, adjust)}
	case reflect.Struct:
		s.Definitions(t, defs, adjust)
		return Schema{"$ref": "#/$defs/" + typeName(t)}
	}
	panic(fmt.Sprintf("schema: no way to write the type %s", strconv.Quote(t.String())))
}
