package main

import (
	"fmt"
	"os"
	"strings"
)

// replace replaces the text between the two markers of a section.
func replace(path, name, text string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := fmt.Sprintf("<!-- measured: %s -->\n", name), "<!-- end -->\n"
	before, rest, found := strings.Cut(string(content), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return fmt.Errorf("%s: there is no %q followed by %q", path, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return os.WriteFile(path, []byte(before+begin+text+end+after), 0o644)
}

// table is a list of rows of cells. The first row is the header.
type table [][]string

func (t *table) row(cells ...any) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = fmt.Sprint(cell)
	}
	*t = append(*t, row)
}

func (t table) String() string {
	var out strings.Builder
	for i, row := range t {
		fmt.Fprintf(&out, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			fmt.Fprintf(&out, "|%s\n", strings.Repeat("---|", len(row)))
		}
	}
	return out.String()
}
