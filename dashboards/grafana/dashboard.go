// Package grafana models the classic JSON form of Grafana dashboards, which every Grafana since 10
// imports and provisions. It has only the fields that Delegraph's dashboards use.
package grafana

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// schemaVersion is the version of Grafana 10.0. Later versions migrate a dashboard when they load it.
const schemaVersion = 38

// Dashboard is a Grafana dashboard.
type Dashboard struct {
	UID           string      `json:"uid"`
	Title         string      `json:"title"`
	Description   string      `json:"description"`
	Tags          []string    `json:"tags"`
	Editable      bool        `json:"editable"`
	GraphTooltip  int         `json:"graphTooltip"` // 1: all panels share the crosshair
	SchemaVersion int         `json:"schemaVersion"`
	Refresh       string      `json:"refresh"`
	Time          Time        `json:"time"`
	Links         []Link      `json:"links"`
	Annotations   Annotations `json:"annotations"`
	Templating    Templating  `json:"templating"`
	Panels        []Panel     `json:"panels"` // rows, and the panels of rows that are not collapsed
}

// AllPanels returns the rows and all panels, including those of collapsed rows.
func (d Dashboard) AllPanels() (all []Panel) {
	for _, p := range d.Panels {
		all = append(all, p)
		if p.Panels != nil {
			all = append(all, *p.Panels...)
		}
	}
	return all
}

// Annotations holds the queries for marks on the time axes.
type Annotations struct {
	List []Annotation `json:"list"`
}

// Annotation is a Prometheus query whose series are drawn as marks. Each Grafana since 10 reads this form; later ones convert it.
type Annotation struct {
	Name        string     `json:"name"`
	Datasource  Datasource `json:"datasource"`
	Enable      bool       `json:"enable"`
	IconColor   string     `json:"iconColor"`
	Expr        string     `json:"expr"`
	Step        string     `json:"step"`
	TitleFormat string     `json:"titleFormat"`
	TextFormat  string     `json:"textFormat"`
	TagKeys     string     `json:"tagKeys"`
}

// Time is the period that a dashboard shows when it is opened.
type Time struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Link links to the dashboards that have its tags.
type Link struct {
	Title       string   `json:"title"`
	Type        string   `json:"type"`
	Icon        string   `json:"icon"`
	Tags        []string `json:"tags"`
	Tooltip     string   `json:"tooltip"`
	AsDropdown  bool     `json:"asDropdown"`
	IncludeVars bool     `json:"includeVars"`
	KeepTime    bool     `json:"keepTime"`
	TargetBlank bool     `json:"targetBlank"`
}

// Templating holds the variables.
type Templating struct {
	List []Variable `json:"list"`
}

// Variable is a dashboard variable, whose values a user selects.
type Variable struct {
	Name       string      `json:"name"`
	Label      string      `json:"label"`
	Type       string      `json:"type"` // datasource, query or textbox
	Query      string      `json:"query"`
	Datasource *Datasource `json:"datasource,omitempty"`
	Refresh    int         `json:"refresh"` // 1: when the dashboard is loaded; 2: when the period changes
	IncludeAll bool        `json:"includeAll"`
	Multi      bool        `json:"multi"`
	AllValue   string      `json:"allValue,omitempty"`
	Sort       int         `json:"sort"`
	Current    *Option     `json:"current,omitempty"`
}

// Option is the selected value of a variable.
type Option struct {
	Text  string `json:"text"`
	Value string `json:"value"`
}

// Datasource refers to a data source, here always by the variable ${datasource}.
type Datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

// Panel is a panel, or a row with the panels below it.
type Panel struct {
	ID              int              `json:"id"`
	Type            string           `json:"type"`
	Title           string           `json:"title"`
	Description     string           `json:"description,omitempty"`
	GridPos         GridPos          `json:"gridPos"`
	Datasource      *Datasource      `json:"datasource,omitempty"`
	Interval        string           `json:"interval,omitempty"` // minimum time between two points
	Targets         []Target         `json:"targets,omitempty"`
	FieldConfig     *FieldConfig     `json:"fieldConfig,omitempty"`
	Options         any              `json:"options,omitempty"`
	Transformations []Transformation `json:"transformations,omitempty"`
	Collapsed       *bool            `json:"collapsed,omitempty"` // of a row
	Panels          *[]Panel         `json:"panels,omitempty"`    // of a row: its panels if it is collapsed, else none
}

// GridPos is a panel's position and size on the grid, which has 24 columns.
type GridPos struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

// Target is one Prometheus query.
type Target struct {
	RefID        string     `json:"refId"`
	Datasource   Datasource `json:"datasource"`
	Expr         string     `json:"expr"`
	LegendFormat string     `json:"legendFormat,omitempty"`
	Format       string     `json:"format"` // time_series, table or heatmap
	Range        bool       `json:"range"`
	Instant      bool       `json:"instant"`
	Exemplar     bool       `json:"exemplar"`
}

// FieldConfig describes how values are shown: in all fields, and in those that an override matches.
type FieldConfig struct {
	Defaults  Field      `json:"defaults"`
	Overrides []Override `json:"overrides"`
}

// Field describes how a value is shown.
type Field struct {
	Unit       string         `json:"unit,omitempty"`
	Decimals   *int           `json:"decimals,omitempty"`
	Min        *float64       `json:"min,omitempty"`
	Max        *float64       `json:"max,omitempty"`
	NoValue    string         `json:"noValue,omitempty"`
	Color      *Color         `json:"color,omitempty"`
	Thresholds *Thresholds    `json:"thresholds,omitempty"`
	Links      []DataLink     `json:"links,omitempty"`
	Custom     map[string]any `json:"custom,omitempty"`
}

// DataLink is a link from a value, with the labels of its series as variables.
type DataLink struct {
	Title       string `json:"title"`
	URL         string `json:"url"`
	TargetBlank bool   `json:"targetBlank"`
}

// Color is the color of a field.
type Color struct {
	Mode       string `json:"mode"`
	FixedColor string `json:"fixedColor,omitempty"`
}

// Thresholds color a value by the last step that it reaches.
type Thresholds struct {
	Mode  string `json:"mode"`
	Steps []Step `json:"steps"`
}

// Step is a threshold. The first step has no value.
type Step struct {
	Color string   `json:"color"`
	Value *float64 `json:"value"`
}

// Override changes how the fields that it matches are shown.
type Override struct {
	Matcher    Matcher    `json:"matcher"`
	Properties []Property `json:"properties"`
}

// Matcher selects fields.
type Matcher struct {
	ID      string `json:"id"`
	Options string `json:"options"`
}

// Property is a changed property of a field.
type Property struct {
	ID    string `json:"id"`
	Value any    `json:"value"`
}

// Transformation changes query results before they are shown.
type Transformation struct {
	ID      string         `json:"id"`
	Options map[string]any `json:"options"`
}

// Encode returns the dashboard as the content of a file.
func (d Dashboard) Encode() ([]byte, error) {
	d.SchemaVersion = schemaVersion
	var file bytes.Buffer
	e := json.NewEncoder(&file)
	e.SetEscapeHTML(false) // expressions contain < and >
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return nil, fmt.Errorf("dashboard %s: %w", d.UID, err)
	}
	return file.Bytes(), nil
}

// Decode parses a dashboard's file. Fields that the model does not have are an error.
func Decode(file []byte) (Dashboard, error) {
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	var board Dashboard
	if err := d.Decode(&board); err != nil {
		return Dashboard{}, fmt.Errorf("dashboard: %w", err)
	}
	return board, nil
}
