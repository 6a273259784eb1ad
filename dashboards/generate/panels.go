package main

import (
	"strings"

	"github.com/delegraph/delegraph/dashboards/grafana"
)

// A dashboard consists of rows of panels. A panel's width is in columns of a grid of 24.
type (
	row struct {
		title  string
		empty  string // what its panels show without data
		panels []panel
	}
	panel struct {
		grafana.Panel
		width, height int
	}
)

// prometheus is the data source selected by the variable.
var prometheus = grafana.Datasource{Type: "prometheus", UID: "${datasource}"}

// place returns the rows with their panels. Only the first row is open: Grafana does not run the queries of collapsed rows.
func place(rows []row) (placed []grafana.Panel) {
	y, id := 0, 1
	for i, r := range rows {
		collapsed, hidden := i > 0, []grafana.Panel{}
		panels, below := r.place(y+1, id+1)
		heading := grafana.Panel{
			ID: id, Type: "row", Title: r.title, GridPos: grafana.GridPos{H: 1, W: 24, Y: y}, Collapsed: &collapsed, Panels: &hidden,
		}
		id += 1 + len(panels)
		if collapsed {
			hidden = panels
			placed, y = append(placed, heading), y+1
			continue
		}
		placed, y = append(append(placed, heading), panels...), below
	}
	return placed
}

// place assigns ids and positions to the panels of a row, from left to right and from top to bottom. It returns the y below them.
func (r row) place(y, id int) (placed []grafana.Panel, below int) {
	x, tallest := 0, 0
	for _, p := range r.panels {
		if x+p.width > 24 {
			x, y, tallest = 0, y+tallest, 0
		}
		p.ID, p.GridPos = id+len(placed), grafana.GridPos{H: p.height, W: p.width, X: x, Y: y}
		p.FieldConfig.Defaults.NoValue = r.empty
		placed = append(placed, p.Panel)
		x, tallest = x+p.width, max(tallest, p.height)
	}
	return placed, y + tallest
}

// rangeQuery returns a range query.
func rangeQuery(expr, legend string) grafana.Target {
	return grafana.Target{Datasource: prometheus, Expr: expr, LegendFormat: legend, Format: "time_series", Range: true}
}

// withExemplars adds exemplars, which Grafana draws as dots that link to traces.
func withExemplars(t grafana.Target) grafana.Target {
	t.Exemplar = true
	return t
}

// instantQuery returns an instant query at the end of the period.
func instantQuery(expr, legend string) grafana.Target {
	return grafana.Target{Datasource: prometheus, Expr: expr, LegendFormat: legend, Format: "time_series", Instant: true}
}

// tableQuery returns an instant query whose result is a table with one row for each series.
func tableQuery(expr string) grafana.Target {
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

// lines returns a panel that draws each series as a line, on an axis that starts at 0.
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

// stacked returns a panel of stacked bars, each of at least one minute.
func stacked(title, description, unit string, targets ...grafana.Target) panel {
	p := lines(title, description, unit, targets...)
	p.Interval = "1m"
	p.FieldConfig.Defaults.Custom = map[string]any{
		"drawStyle": "bars", "lineWidth": 1, "fillOpacity": 80, "showPoints": "never", "stacking": map[string]any{"mode": "normal", "group": "A"},
	}
	return p
}

// steps returns a panel that draws a value of 0 or 1 without interpolation.
func steps(title, description, unit string, targets ...grafana.Target) panel {
	p := lines(title, description, unit, targets...)
	p.FieldConfig.Defaults.Max = number(1)
	p.FieldConfig.Defaults.Custom["lineInterpolation"] = "stepAfter"
	return p
}

// stat returns a panel that shows one number, or one for each series.
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

// names makes a stat panel show the names of the series instead of numbers.
func (p panel) names() panel {
	p.Options.(map[string]any)["textMode"] = "name"
	return p
}

// heatmap returns a heat map of a histogram.
func heatmap(title, description, unit string, target grafana.Target) panel {
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

// graph returns a node graph. Each series of the query is an edge, with the labels id, source and
// target; its value is shown on the edge.
func graph(title, description string, target grafana.Target) panel {
	target.Format, target.Range, target.Instant = "table", false, true
	p := newPanel("nodeGraph", title, description, "short", []grafana.Target{target})
	// The panel shows the unit literally. It finds a field by its original name, so that renaming the
	// field to mainstat has no effect; a calculated field is needed.
	p.Options = map[string]any{
		"edges": map[string]any{"mainStatUnit": "times"}, "nodes": map[string]any{"arcs": []any{}},
		"layoutAlgorithm": "force", // layered puts all tools of an agent in one column
		"zoomMode":        "cooperative",
	}
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

// column is a column of a table. Its field is a label or, if it has a unit, the RefID of a query.
type column struct{ field, name, unit string }

// table returns a table that joins the results of its queries by their labels. Its rows are sorted by the named column, largest first.
func table(title, description, sortedBy string, columns []column, targets ...grafana.Target) panel {
	p := newPanel("table", title, description, "short", targets)
	p.Options = map[string]any{
		"showHeader": true, "cellHeight": "sm", "frameIndex": 0, "sortBy": []any{map[string]any{"displayName": sortedBy, "desc": true}},
	}
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

// linked links values to the list of runs on Delegraph's page, filtered by the labels that the legend names and by a status, if given.
func (p panel) linked(status ...string) panel {
	link := grafana.DataLink{Title: "Runs", URL: "${delegraph:raw}/", TargetBlank: true}
	var filters []string
	for _, s := range status {
		filters, link.Title = append(filters, "status="+s), "Runs with status "+s
	}
	for _, label := range []string{"source", "agent", "status"} { // the filters of the page
		if strings.Contains(p.Targets[0].LegendFormat, "{{"+label+"}}") {
			filters = append(filters, label+"=${__field.labels."+label+":percentencode}")
		}
	}
	if len(filters) > 0 {
		link.URL += "?" + strings.Join(filters, "&")
	}
	p.FieldConfig.Defaults.Links = []grafana.DataLink{link}
	return p
}

// linkSources links the panels with a series for each source to the runs of that source.
func linkSources(panels []panel) []panel {
	for i, p := range panels {
		if strings.Contains(p.Targets[0].LegendFormat, "{{source}}") {
			panels[i] = p.linked()
		}
	}
	return panels
}

// sized sets a panel's size on the grid.
func (p panel) sized(width, height int) panel {
	p.width, p.height = width, height
	return p
}

// whole shows values without decimals, for counts.
func (p panel) whole() panel {
	none := 0
	p.FieldConfig.Defaults.Decimals = &none
	return p
}

// withoutMin lets the axis begin at the smallest value instead of 0.
func (p panel) withoutMin() panel {
	p.FieldConfig.Defaults.Min = nil
	return p
}

// redAbove colors values green, orange from the first threshold on, and red from the second.
func (p panel) redAbove(orange, red float64) panel {
	p.FieldConfig.Defaults.Thresholds = &grafana.Thresholds{Mode: "absolute", Steps: []grafana.Step{
		{Color: "green"}, {Color: "orange", Value: &orange}, {Color: "red", Value: &red},
	}}
	return p
}

// greenAbove colors values red, orange from the first threshold on, and green from the second.
func (p panel) greenAbove(orange, green float64) panel {
	p.FieldConfig.Defaults.Thresholds = &grafana.Thresholds{Mode: "absolute", Steps: []grafana.Step{
		{Color: "red"}, {Color: "orange", Value: &orange}, {Color: "green", Value: &green},
	}}
	return p
}

// limitLine draws a horizontal line at a value.
func (p panel) limitLine(at float64) panel {
	p.FieldConfig.Defaults.Thresholds = &grafana.Thresholds{Mode: "absolute", Steps: []grafana.Step{{Color: "transparent"}, {Color: "red", Value: &at}}}
	p.FieldConfig.Defaults.Custom["thresholdsStyle"] = map[string]any{"mode": "line"}
	return p
}

// colored sets the colors of series, given as pairs of name and color.
func (p panel) colored(names ...string) panel {
	for i := 0; i < len(names); i += 2 {
		p.FieldConfig.Overrides = append(p.FieldConfig.Overrides, override(names[i], "color", grafana.Color{Mode: "fixed", FixedColor: names[i+1]}))
	}
	return p
}

func override(name, property string, value any) grafana.Override {
	return grafana.Override{Matcher: grafana.Matcher{ID: "byName", Options: name}, Properties: []grafana.Property{{ID: property, Value: value}}}
}

func number(n float64) *float64 { return &n }
