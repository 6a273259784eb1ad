package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/delegraph/delegraph/collector/dialect/adk/adkserver"
)

// attributeRow is a line of docs/reference/attributes.md: name, type, where it is, when.
var attributeRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (string|int|double|boolean|string\\[\\]) \\| (.+?) \\| (.+?) \\| `.*` \\|$")

// documentedAttribute is what the page says of an attribute.
type documentedAttribute struct {
	kind   string
	places []string
	always bool
}

func documentedAttributes(t *testing.T) map[string]documentedAttribute {
	t.Helper()
	page, err := os.ReadFile("../../docs/reference/attributes.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]documentedAttribute{}
	for _, m := range attributeRow.FindAllStringSubmatch(string(page), -1) {
		all[m[1]] = documentedAttribute{m[2], strings.Split(strings.ReplaceAll(m[3], "`", ""), ", "), strings.HasPrefix(m[4], "always")}
	}
	if len(all) < 50 {
		t.Fatalf("%d attributes are documented", len(all))
	}
	return all
}

// unrecorded are the documented attributes that no replay of a capture shows, with the reason.
var unrecorded = map[string]string{
	"delegraph.clock.offset":        "of live streams only",
	"delegraph.tool.is_agent":       "a replay has no configuration",
	"delegraph.content.truncated":   "a replay records no content",
	"gen_ai.output.messages":        "a replay records no content",
	"gen_ai.tool.call.arguments":    "a replay records no content",
	"delegraph.input.prompt":        "a replay records no content",
	"delegraph.input.options":       "a replay records no content",
	"delegraph.input.schema":        "a replay records no content",
	"gen_ai.tool.call.result":       "a replay records no content",
	"delegraph.statements.dropped":  "no capture states so much",
	"delegraph.reasoning.steps":     "no capture states a reasoning chain",
	"gen_ai.evaluation.score.label": "no capture states a confidence in words",
	"delegraph.confidence.low":      "no capture states a range",
	"delegraph.confidence.high":     "no capture states a range",
}

// attributeKinds are OTLP/JSON's words for types.
var attributeKinds = map[string]string{"stringValue": "string", "intValue": "int", "doubleValue": "double", "boolValue": "boolean", "arrayValue": "string[]"}

// TestAttributesOfCaptures replays every capture: what its spans have is documented, with its type and its place, and what is documented
// as always there is.
func TestAttributesOfCaptures(t *testing.T) {
	documented, seen := documentedAttributes(t), map[string]bool{}
	problems := map[string]bool{}
	check := func(places []string, attributes []attributeLine) {
		has := map[string]bool{}
		for _, a := range attributes {
			has[a.Key], seen[a.Key] = true, true
			d, ok := documented[a.Key]
			var value map[string]json.RawMessage
			if err := json.Unmarshal(a.Value, &value); err != nil {
				t.Fatal(err)
			}
			for kind := range value {
				if !ok || attributeKinds[kind] != d.kind || !slices.ContainsFunc(places, func(p string) bool { return slices.Contains(d.places, p) }) {
					problems[fmt.Sprintf("%s, a %s of %q, is documented as %+v", a.Key, attributeKinds[kind], places, d)] = true
				}
			}
		}
		for key, d := range documented {
			if d.always && slices.ContainsFunc(places, func(p string) bool { return slices.Contains(d.places, p) }) && !has[key] {
				problems[fmt.Sprintf("%s is not always of %q", key, places)] = true
			}
		}
	}
	for _, folder := range captures {
		for _, file := range sseFiles(t, folder) {
			for _, s := range replayedTraces(t, file) {
				kind, _, _ := strings.Cut(s.Name, " ")
				places := []string{kind}
				if s.ParentSpanID == "" {
					places = append(places, "the run's span")
				}
				check(places, s.Attributes)
				for _, e := range s.Events {
					check([]string{e.Name}, e.Attributes)
				}
				for _, l := range s.Links {
					check([]string{"links"}, l.Attributes)
				}
			}
		}
	}
	for _, problem := range slices.Sorted(maps.Keys(problems)) {
		t.Error(problem)
	}
	missing := map[string]bool{}
	for key, d := range documented {
		if !seen[key] && !slices.Equal(d.places, []string{"server spans"}) {
			missing[key] = true
		}
	}
	want := map[string]bool{}
	for key := range unrecorded {
		want[key] = true
	}
	if diff := cmp.Diff(want, missing); diff != "" {
		t.Errorf("documented, and of no capture (-reasons +missing):\n%s", diff)
	}
}

// TestAttributesOfServerSpans holds what a proxy says of requests, answered and not, against the documentation.
func TestAttributesOfServerSpans(t *testing.T) {
	documented, agent, receiver := documentedAttributes(t), newRecordedAgent(t), newBackend(t)
	car := launch(t, fmt.Sprintf(verbatim, agent.URL), receiver.environment(nil))
	post(t, car.address(), adkserver.RunRequest("u", "s", "adk-go/transfer", true), nil)
	agent.Close()
	post(t, car.address(), adkserver.RunRequest("u", "s", "adk-go/transfer", true), nil)
	car.stop()
	requests := 0
	for _, s := range receiver.spans() {
		if s.Kind != tracepb.Span_SPAN_KIND_SERVER {
			continue
		}
		requests++
		for _, a := range s.Attributes {
			d, ok := documented[a.Key]
			shared := a.Key == "delegraph.source" || a.Key == "error.type"
			if !ok || !shared && !slices.Contains(d.places, "server spans") {
				t.Errorf("%s is documented as %+v", a.Key, d)
			}
			if _, number := a.Value.Value.(*commonpb.AnyValue_IntValue); number != (d.kind == "int") {
				t.Errorf("%s is %s, and documented as %s", a.Key, a.Value, d.kind)
			}
		}
	}
	if requests != 2 {
		t.Errorf("%d server spans", requests)
	}
}
