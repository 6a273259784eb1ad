package picture

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// stat writes the last value of each series, or what the series are called.
func (a answered) stat(c *canvas, place box) {
	options, _ := a.Options.(map[string]any)
	each := place.h / float64(len(a.series))
	for i, s := range a.series {
		n := s.Last()
		text := format(n, a.unit())
		if options["textMode"] == "name" {
			text = s.Legend
		}
		size := min(30, each*0.6, place.w/max(1, wide(text, 1)))
		c.text(place.x+place.w/2, place.y+each*(float64(i)+0.5)+size*0.35, size, middle, a.judged(n), text)
	}
}

// table joins the answers by their labels, and shows the columns under their names and in their order.
func (a answered) table(c *canvas, place box) {
	columns, rows := a.cells()
	const line = 20.0
	for i, name := range columns {
		c.text(place.x+place.w*float64(i)/float64(len(columns)), place.y+12, 11, left, faint, name)
	}
	for n, row := range rows {
		y := place.y + line*float64(n+1) + 12
		if y > place.y+place.h {
			c.text(place.x+place.w, place.y+12, 11, right, faint, count(len(rows)-n, "more rows"))
			break
		}
		c.line(place.x, y-14, place.x+place.w, y-14, rule)
		for i, cell := range row {
			c.text(place.x+place.w*float64(i)/float64(len(columns)), y, 12, left, ink, fit(cell, place.w/float64(len(columns))-8, 12))
		}
	}
}

func (a answered) cells() (columns []string, rows [][]string) {
	var order, names map[string]any
	for _, t := range a.Transformations {
		if t.ID == "organize" {
			order, _ = t.Options["indexByName"].(map[string]any)
			names, _ = t.Options["renameByName"].(map[string]any)
		}
	}
	fields := make([]string, 0, len(order))
	for field := range order {
		fields = append(fields, field)
	}
	sort.Slice(fields, func(i, j int) bool { return order[fields[i]].(float64) < order[fields[j]].(float64) })
	at := map[string]int{}
	for _, s := range a.series {
		k := key(s.Labels)
		if _, ok := at[k]; !ok {
			at[k] = len(rows)
			row := make([]string, len(fields))
			for i, field := range fields {
				row[i] = s.Labels[field]
			}
			rows = append(rows, row)
		}
		if i := slices.Index(fields, "Value #"+s.Query); i >= 0 {
			rows[at[k]][i] = format(s.Last(), a.unitOf(fmt.Sprint(names[fields[i]])))
		}
	}
	for _, field := range fields {
		columns = append(columns, fmt.Sprint(names[field]))
	}
	slices.SortStableFunc(rows, func(x, y []string) int {
		return strings.Compare(strings.Join(x[:2], "\x00"), strings.Join(y[:2], "\x00"))
	})
	return columns, rows
}

func (a answered) unitOf(name string) string {
	for _, o := range a.FieldConfig.Overrides {
		if o.Matcher.Options == name && o.Properties[0].ID == "unit" {
			return fmt.Sprint(o.Properties[0].Value)
		}
	}
	return a.unit()
}
