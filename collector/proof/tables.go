package proof

import (
	"embed"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// tables are the regular expressions and words for reading statements. An error in them causes a panic
// when they are first needed.
//
//go:embed tables/*.txt
var tables embed.FS

// rows returns the lines of a table without comments. An indented line continues the line before.
func rows(name string) (all []string) {
	content, err := tables.ReadFile("tables/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSuffix(line, "\n")
		if more, ok := strings.CutPrefix(line, "\t"); ok {
			all[len(all)-1] += "\n" + more
		} else if line != "" && line[0] != '#' {
			all = append(all, line)
		}
	}
	return all
}

// wordRows returns the table of words and parts of expressions.
var wordRows = sync.OnceValue(func() []string { return rows("words") })

// cells returns the columns of a row.
func cells(row string, columns int) []string {
	all := strings.Split(row, " :: ")
	if len(all) != columns {
		panic(fmt.Sprintf("%d columns in place of %d: %s", len(all), columns, row))
	}
	return all
}

// parts maps names to parts of regular expressions.
var parts = func() map[string]string {
	parts := map[string]string{}
	for _, row := range wordRows() {
		if name, expression, ok := strings.Cut(row, " = "); ok {
			parts[name] = strings.ReplaceAll(expression, "\n", "")
		}
	}
	return parts
}()

var partName = regexp.MustCompile(`⟨[^⟩]+⟩`)

// expand replaces the names of parts in an expression.
func expand(expression string) string {
	return partName.ReplaceAllStringFunc(expression, func(name string) string {
		part, ok := parts[strings.Trim(name, "⟨⟩")]
		if !ok {
			panic("no part " + name)
		}
		return "(?:" + expand(part) + ")"
	})
}

// compile compiles an expression with named parts.
func compile(expression string) *regexp.Regexp { return regexp.MustCompile(expand(expression)) }

// lazily returns an expression with named parts that is compiled when it is first needed. Most processes
// never need most of them.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return compile(expression) })
}

// words returns a list of words.
func words(name string) []string {
	for _, row := range wordRows() {
		if list, ok := strings.CutPrefix(row, name+": "); ok {
			all := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == '\n' })
			for i := range all {
				all[i] = strings.TrimSpace(all[i])
			}
			return all
		}
	}
	panic("no words " + name)
}

// wordSet is a set of words.
type wordSet map[string]bool

func setOf(lists ...string) wordSet {
	set := wordSet{}
	for _, name := range lists {
		for _, word := range words(name) {
			set[word] = true
		}
	}
	return set
}
