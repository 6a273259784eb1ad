package replay_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/command"
	"github.com/delegraph/delegraph/internal/replay"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/schema"
)

const replaySchema = "../../../docs/reference/replay.schema.json"

// TestReplaySchemaIsOfTypes checks that the published schema is that of the Go types.
func TestReplaySchemaIsOfTypes(t *testing.T) {
	source, err := schema.ReadSource("../../../exporter/tracker", "../../../collector/event", "../../../internal/replay")
	if err != nil {
		t.Fatal(err)
	}
	definitions := schema.Schema{}
	for _, of := range []reflect.Type{reflect.TypeFor[tracker.Report](), reflect.TypeFor[replay.LastLine]()} {
		source.Definitions(of, definitions, func(field string, f schema.Schema) { describe(source, field, f) })
	}
	err = schema.Compare(replaySchema, schema.Schema{
		"$schema":     "https://json-schema.org/draft/2020-12/schema",
		"title":       "A line of delegraph replay --format=json",
		"description": "A run for each line, and after the last one the totals. #/$defs/Run is also an element of GET /api/v1/runs, and GET /api/v1/runs/{id}. What is unknown is null.",
		"oneOf":       []any{schema.Schema{"$ref": "#/$defs/Run"}, schema.Schema{"$ref": "#/$defs/LastLine"}},
		"$defs":       definitions,
	}, *harness.Update)
	if err != nil {
		t.Error(err)
	}
}

// describe adds what the Go type of a field does not say.
func describe(source *schema.Source, field string, f schema.Schema) {
	switch field {
	case "Report.StatusReason":
		f["enum"] = append(source.Values("StatusReason"), nil)
	case "OperationReport.Failure":
		f["enum"] = append(source.Values("Failure"), nil)
	case "OperationReport.Timing", "OperationReport.DurationTiming":
		f["enum"] = []any{"reported", "observed", "unknown", ""} // "" of an open operation
	case "ConfidenceReport.Value", "ConfidenceReport.Low", "ConfidenceReport.High", "OperationReport.Progress":
		f["minimum"], f["maximum"] = 0, 1
	case "Totals.ParseErrors":
		var reasons []any
		for _, r := range event.Reasons() {
			reasons = append(reasons, string(r))
		}
		f["propertyNames"] = schema.Schema{"enum": reasons}
	}
}

// TestReplaySchema checks every line of every recording against the published schema, and that the schema is not too wide.
func TestReplaySchema(t *testing.T) {
	published, err := schema.Read(replaySchema)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../../collector/dialect/*/testdata/*.sse")
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range recorded.Captures {
		files = append(files, recorded.Files(t, folder)...)
	}
	slices.Sort(files)
	lines := 0
	for _, file := range files {
		var out, errs bytes.Buffer
		_ = command.Run(t.Context(), []string{"replay", "--format=json", file}, &out, &errs) // some files have no frames
		for line := range strings.Lines(out.String()) {
			lines++
			var v map[string]any
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatal(err)
			}
			if fault := schema.Check(published, v); fault != "" {
				t.Errorf("%s: %s: %.300s", file, fault, line)
			}
			for member := range v {
				without := map[string]any{}
				for name, value := range v {
					if name != member {
						without[name] = value
					}
				}
				if schema.Check(published, without) == "" {
					t.Fatalf("%s: the schema takes a line without %s", file, member)
				}
			}
			v["more"] = true
			if schema.Check(published, v) == "" {
				t.Fatalf("%s: the schema takes a line with an unknown member", file)
			}
		}
	}
	if lines < len(files) {
		t.Errorf("%d files have only %d lines", len(files), lines)
	}
}
