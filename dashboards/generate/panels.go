package main

import (
	"github.com/delegraph/delegraph/dashboards/grafana"
)

// A dashboard is rows of panels, each as wide as it says on a grid of 24.
type (
	row struct {
		title  string
		panels []panel
	}
	panel struct {
		grafana.Panel
		width, height int
	}
)

// prometheus is the data source that the variable names.
var prometheus = grafana.Datasource{Type: "prometheus", UID: "${datasource}"}

// place gives the panels their ids and places, from left to right and from top to bottom.
func place(rows []row) (placed []grafana.Panel) {
	y := 0
	for _, r := range rows {
		open, none := false, []grafana.Panel{}
		placed = append(placed, grafana.Panel{
			ID: len(placed) + 1, Type: "row", Title: r.title, GridPos: grafana.GridPos{H: 1, W: 24, Y: y}, Collapsed: &open, Panels: &none,
		})
		y++
		x, tallest := 0, 0
		for _, p := range r.panels {
			if x+p.width > 24 {
				x, y, tallest = 0, y+tallest, 0
			}
			p.ID, p.GridPos = len(placed)+1, grafana.GridPos{H: p.height, W: p.width, X: x, Y: y}
			placed = append(placed, p.Panel)
			x, tallest = x+p.width, max(tallest, p.height)
		}
		y += tallest
	}
	return placed
}

// ask is a query drawn over time.
func ask(expr, legend string) grafana.Target {
	return grafana.Target{Datasource: prometheus, Expr: expr, LegendFormat: legend, Format: "time_series", Range: true}
}

// dotted adds the exemplars, each of which leads to its trace.
func dotted(t grafana.Target) grafana.Target {
	t.Exemplar = true
	return t
}

// now is a query answered once, at the end of the period.
func now(expr, legend string) grafana.Target {
	return grafana.Target{Datasource: prometheus, Expr: expr, LegendFormat: legend, Format: "time_series", Instant: true}
}

// records is a query answered once, a row for each series.
func records(expr string) grafana.Target {
	return grafana.Target{Datasource: prometheus, Expr: expr, Format: "table", Instant: true}
}

func newPanel(kind, title, description, unit string, targets []grafana.Target) panel {
	for i := range targets {
		targets[i].RefID = string(rune('A' + i))
	}
	return panel{width: 8, height: 8, Panel: grafana.Panel{
		Type: kind, Title: title, Description: description, Datasource: &prometheus, Targets: targets,
		FieldConfig: &grafana.FieldConfig{Defaults: grafana.Field{Unit: unit}, Overrides: []grafana.Override{}},
	}}
}

// lines draws each series as a line from 0.
func lines(title, description, unit string, targets ...grafana.Target) panel {
	p := newPanel("timeseries", title, description, unit, targets)
	p.FieldConfig.Defaults.Min = number(0)
	p.FieldConfig.Defaults.Color = &grafana.Color{Mode: "palette-classic"}
	p.FieldConfig.Defaults.Custom = map[string]any{"drawStyle": "line", "lineWidth": 1, "fillOpacity": 10, "showPoints": "never"}
	p.Options = map[string]any{
		"legend":  map[string]any{"displayMode": "list", "placement": "bottom", "showLegend": true, "calcs": []string{}},
		"tooltip": map[string]any{"mode": "multi", "sort": "desc"},
	}
	return p
}

// stacked draws each series as bars, one upon the other, of a minute at least.
func stacked(title, description, unit string, targets ...grafana.Target) panel {
	p := lines(title, description, unit, targets...)
	p.Interval = "1m"
	p.FieldConfig.Defaults.Custom = map[string]any{
		"drawStyle": "bars", "lineWidth": 1, "fillOpacity": 80, "showPoints": "never", "stacking": map[string]any{"mode": "normal", "group": "A"},
	}
	return p
}

// steps draws a value that is 0 or 1 as it was at each moment.
func steps(title, description, unit string, targets ...grafana.Target) panel {
	p := lines(title, description, unit, targets...)
	p.FieldConfig.Defaults.Max = number(1)
	p.FieldConfig.Defaults.Custom["lineInterpolation"] = "stepAfter"
	return p
}

// stat is one number, or one for each series.
func stat(title, description, unit string, targets ...grafana.Target) panel {
	p := newPanel("stat", title, description, unit, targets)
	p.width, p.height = 4, 4
	p.FieldConfig.Defaults.Thresholds = &grafana.Thresholds{Mode: "absolute", Steps: []grafana.Step{{Color: "text"}}}
	p.Options = map[string]any{
		"reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}, "fields": "", "values": false},
		"colorMode":     "value", "graphMode": "none", "justifyMode": "auto", "textMode": "auto", "orientation": "auto",
		"percentChangeColorMode": "standard", "showPercentChange": false, "wideLayout": true,
	}
	return p
}

// names is a stat that shows the series' names.
func (p panel) names() panel {
	p.Options.(map[string]any)["textMode"] = "name"
	return p
}

// warm is a heat map of a histogram.
func warm(title, description, unit string, target grafana.Target) panel {
	target.Format = "heatmap"
	p := newPanel("heatmap", title, description, unit, []grafana.Target{target})
	p.FieldConfig.Defaults.Custom = map[string]any{"scaleDistribution": map[string]any{"type": "linear"}}
	p.Options = map[string]any{
		"calculate": false, "cellGap": 1,
		"color":      map[string]any{"mode": "scheme", "scheme": "Blues", "fill": "blue", "scale": "exponential", "exponent": 0.5, "steps": 64, "reverse": false},
		"exemplars":  map[string]any{"color": "rgba(255,0,255,0.7)"},
		"legend":     map[string]any{"show": true},
		"rowsFrame":  map[string]any{"layout": "auto"},
		"showValue":  "never",
		"tooltip":    map[string]any{"mode": "single", "yHistogram": false, "showColorScale": false},
		"yAxis":      map[string]any{"unit": unit, "axisPlacement": "left", "reverse": false},
		"cellValues": map[string]any{"unit": "short"},
	}
	return p
}

// graph is a node graph of edges, which an answer names by the labels id, source and target; its value is how many.
func graph(title, description string, target grafana.Target) panel {
	target.Format, target.Range, target.Instant = "table", false, true
	p := newPanel("nodeGraph", title, description, "short", []grafana.Target{target})
	// The panel writes the unit as it stands here, and knows a field by its own name: one that is renamed only looks renamed.
	p.Options = map[string]any{"edges": map[string]any{"mainStatUnit": "times"}, "nodes": map[string]any{"arcs": []any{}}}
	p.Transformations = []grafana.Transformation{
		{ID: "calculateField", Options: map[string]any{
			"mode": "reduceRow", "reduce": map[string]any{"include": []string{"Value"}, "reducer": "sum"}, "alias": "mainstat", "replaceFields": false,
		}},
		{ID: "organize", Options: map[string]any{
			"excludeByName": map[string]any{"Time": true, "Value": true}, "indexByName": map[string]any{}, "renameByName": map[string]any{},
		}},
	}
	return p
}

// column is one of a table: the label or, of a query, its RefID, by the name that it is shown under.
type column struct{ field, name, unit string }

// table joins the answers of its queries by their labels.
func table(title, description string, columns []column, targets ...grafana.Target) panel {
	p := newPanel("table", title, description, "short", targets)
	p.Options = map[string]any{"showHeader": true, "cellHeight": "sm", "frameIndex": 0}
	p.FieldConfig.Defaults.Custom = map[string]any{"align": "auto", "filterable": true, "inspect": false}
	order, names := map[string]any{}, map[string]any{}
	for i, c := range columns {
		field := c.field
		if c.unit != "" {
			field = "Value #" + c.field
			p.FieldConfig.Overrides = append(p.FieldConfig.Overrides, override(c.name, "unit", c.unit))
		}
		order[field], names[field] = i, c.name
	}
	p.Transformations = []grafana.Transformation{
		{ID: "merge", Options: map[string]any{}},
		{ID: "organize", Options: map[string]any{"excludeByName": map[string]any{"Time": true}, "indexByName": order, "renameByName": names}},
	}
	return p
}

// sized changes how many of the grid's places a panel takes.
func (p panel) sized(width, height int) panel {
	p.width, p.height = width, height
	return p
}

// whole says that the values are counts, which have no decimals.
func (p panel) whole() panel {
	none := 0
	p.FieldConfig.Defaults.Decimals = &none
	return p
}

// fromAnywhere lets an axis begin where the values do.
func (p panel) fromAnywhere() panel {
	p.FieldConfig.Defaults.Min = nil
	return p
}

// judged colours values from the steps on: green below the first, orange from it, red from the second.
func (p panel) judged(orange, red float64) panel {
	p.FieldConfig.Defaults.Thresholds = &grafana.Thresholds{Mode: "absolute", Steps: []grafana.Step{
		{Color: "green"}, {Color: "orange", Value: &orange}, {Color: "red", Value: &red},
	}}
	return p
}

// rising is judged the other way round: red below the first step, green from the second.
func (p panel) rising(orange, green float64) panel {
	p.FieldConfig.Defaults.Thresholds = &grafana.Thresholds{Mode: "absolute", Steps: []grafana.Step{
		{Color: "red"}, {Color: "orange", Value: &orange}, {Color: "green", Value: &green},
	}}
	return p
}

// line draws a limit across a panel.
func (p panel) line(at float64) panel {
	p.FieldConfig.Defaults.Thresholds = &grafana.Thresholds{Mode: "absolute", Steps: []grafana.Step{{Color: "transparent"}, {Color: "red", Value: &at}}}
	p.FieldConfig.Defaults.Custom["thresholdsStyle"] = map[string]any{"mode": "line"}
	return p
}

// coloured gives series of these names colours that mean something.
func (p panel) coloured(names ...string) panel {
	for i := 0; i < len(names); i += 2 {
		p.FieldConfig.Overrides = append(p.FieldConfig.Overrides, override(names[i], "color", grafana.Color{Mode: "fixed", FixedColor: names[i+1]}))
	}
	return p
}

func override(name, property string, value any) grafana.Override {
	return grafana.Override{Matcher: grafana.Matcher{ID: "byName", Options: name}, Properties: []grafana.Property{{ID: property, Value: value}}}
}

func number(n float64) *float64 { return &n }
