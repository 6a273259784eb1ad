// Package grafana is the classic JSON model of Grafana's dashboards, as far as Delegraph's own need it: the one form that every
// Grafana from 10 on imports and provisions.
package grafana

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// schemaVersion is that of Grafana 10.0; later ones migrate it when they load it.
const schemaVersion = 38

// Dashboard is one.
type Dashboard struct {
	UID           string     `json:"uid"`
	Title         string     `json:"title"`
	Description   string     `json:"description"`
	Tags          []string   `json:"tags"`
	Editable      bool       `json:"editable"`
	GraphTooltip  int        `json:"graphTooltip"` // 1: the crosshair is in all panels
	SchemaVersion int        `json:"schemaVersion"`
	Refresh       string     `json:"refresh"`
	Time          Time       `json:"time"`
	Links         []Link     `json:"links"`
	Templating    Templating `json:"templating"`
	Panels        []Panel    `json:"panels"`
}

// Time is the period that a dashboard opens with.
type Time struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Link leads to the dashboards with its tags.
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

// Templating has the variables.
type Templating struct {
	List []Variable `json:"list"`
}

// Variable is one that a user chooses a value of.
type Variable struct {
	Name       string      `json:"name"`
	Label      string      `json:"label"`
	Type       string      `json:"type"` // datasource or query
	Query      string      `json:"query"`
	Datasource *Datasource `json:"datasource,omitempty"`
	Refresh    int         `json:"refresh"` // 1: when the dashboard is loaded; 2: when the period changes
	IncludeAll bool        `json:"includeAll"`
	Multi      bool        `json:"multi"`
	AllValue   string      `json:"allValue,omitempty"`
	Sort       int         `json:"sort"`
	Current    *Option     `json:"current,omitempty"`
}

// Option is a variable's value.
type Option struct {
	Text  string `json:"text"`
	Value string `json:"value"`
}

// Datasource names one, here always by the variable.
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
	Interval        string           `json:"interval,omitempty"` // the least time from one point to the next
	Targets         []Target         `json:"targets,omitempty"`
	FieldConfig     *FieldConfig     `json:"fieldConfig,omitempty"`
	Options         any              `json:"options,omitempty"`
	Transformations []Transformation `json:"transformations,omitempty"`
	Collapsed       *bool            `json:"collapsed,omitempty"` // of a row
	Panels          *[]Panel         `json:"panels,omitempty"`    // of a row: none, since it is not collapsed
}

// GridPos is a place on a grid 24 wide.
type GridPos struct {
	H int `json:"h"`
	W int `json:"w"`
	X int `json:"x"`
	Y int `json:"y"`
}

// Target is one query of Prometheus.
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

// FieldConfig says how values look, of all fields and of those that an override matches.
type FieldConfig struct {
	Defaults  Field      `json:"defaults"`
	Overrides []Override `json:"overrides"`
}

// Field says how a value looks.
type Field struct {
	Unit       string         `json:"unit,omitempty"`
	Decimals   *int           `json:"decimals,omitempty"`
	Min        *float64       `json:"min,omitempty"`
	Max        *float64       `json:"max,omitempty"`
	NoValue    string         `json:"noValue,omitempty"`
	Color      *Color         `json:"color,omitempty"`
	Thresholds *Thresholds    `json:"thresholds,omitempty"`
	Custom     map[string]any `json:"custom,omitempty"`
}

// Color is a field's.
type Color struct {
	Mode       string `json:"mode"`
	FixedColor string `json:"fixedColor,omitempty"`
}

// Thresholds colour a value by the last step that it reaches.
type Thresholds struct {
	Mode  string `json:"mode"`
	Steps []Step `json:"steps"`
}

// Step is a threshold; the first has no value.
type Step struct {
	Color string   `json:"color"`
	Value *float64 `json:"value"`
}

// Override changes how some fields look.
type Override struct {
	Matcher    Matcher    `json:"matcher"`
	Properties []Property `json:"properties"`
}

// Matcher chooses fields.
type Matcher struct {
	ID      string `json:"id"`
	Options string `json:"options"`
}

// Property is a changed one.
type Property struct {
	ID    string `json:"id"`
	Value any    `json:"value"`
}

// Transformation changes answers before they are shown.
type Transformation struct {
	ID      string         `json:"id"`
	Options map[string]any `json:"options"`
}

// Encode is the dashboard as a file.
func (d Dashboard) Encode() ([]byte, error) {
	d.SchemaVersion = schemaVersion
	var file bytes.Buffer
	e := json.NewEncoder(&file)
	e.SetEscapeHTML(false) // expressions have < and > in them
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		return nil, fmt.Errorf("dashboard %s: %w", d.UID, err)
	}
	return file.Bytes(), nil
}

// Decode reads a dashboard's file, and refuses what the model does not have.
func Decode(file []byte) (Dashboard, error) {
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	var board Dashboard
	if err := d.Decode(&board); err != nil {
		return Dashboard{}, fmt.Errorf("dashboard: %w", err)
	}
	return board, nil
}
