package replay_test

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
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
)

// attributeItem matches attributes in docs/reference/attributes.md: their names, their type unless it is a string, their places unless
// the section names them, and when they are there.
var attributeItem = regexp.MustCompile("^- (`[a-z0-9_.]+`(?:, `[a-z0-9_.]+`)*)(?: \\((int|double|boolean|string\\[\\])\\))?(?: of ([^:]+))?: (.*)$")

// sectionPlaces matches the places that a section names for its attributes.
var sectionPlaces = regexp.MustCompile(`(?:^|\. )Of ([^:]+):$`)

// documentedAttribute is an attribute as documented.
type documentedAttribute struct {
	kind   string
	places []string
	always bool
}

func documentedAttributes(t *testing.T) map[string]documentedAttribute {
	t.Helper()
	page, err := os.ReadFile("../../../docs/reference/attributes.md")
	if err != nil {
		t.Fatal(err)
	}
	all, of := map[string]documentedAttribute{}, ""
	for line := range strings.Lines(string(page)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "#") {
			of = ""
		} else if m := sectionPlaces.FindStringSubmatch(line); m != nil {
			of = m[1]
		}
		m := attributeItem.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		kind, places := m[2], m[3]
		if kind == "" {
			kind = "string"
		}
		if places == "" {
			places = of
		}
		d := documentedAttribute{kind, strings.Split(strings.ReplaceAll(places, "`", ""), ", "), strings.HasPrefix(m[4], "always")}
		if places == "operations" {
			d.places = []string{"invoke_workflow", "invoke_agent", "invoke_node", "execute_tool", "chat"}
		}
		for name := range strings.SplitSeq(strings.ReplaceAll(m[1], "`", ""), ", ") {
			all[name] = d
		}
	}
	if len(all) < 50 {
		t.Fatalf("%d attributes are documented", len(all))
	}
	return all
}

// unrecorded lists the documented attributes that no replayed capture has, with the reason.
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

// attributeKinds maps the types of OTLP/JSON to the documented ones.
var attributeKinds = map[string]string{"stringValue": "string", "intValue": "int", "doubleValue": "double", "boolValue": "boolean", "arrayValue": "string[]"}

// TestAttributesOfCaptures replays every capture, and checks that every attribute of a span is documented with its type and
// place, and that attributes documented as always present exist.
func TestAttributesOfCaptures(t *testing.T) {
	documented, seen := documentedAttributes(t), map[string]bool{}
	problems := map[string]bool{}
	check := func(places []string, attributes []harness.AttributeLine) {
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
	for _, folder := range recorded.Captures {
		for _, file := range recorded.Files(t, folder) {
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

// TestAttributesOfServerSpans compares a proxy's spans of answered and failed requests with the documentation.
func TestAttributesOfServerSpans(t *testing.T) {
	documented, agent, receiver := documentedAttributes(t), recorded.NewAgent(t), harness.NewReceiver(t)
	service := harness.Launch(t, fmt.Sprintf(harness.Verbatim, agent.URL), receiver.Environment(nil))
	harness.Post(t, service.Address(), adkserver.RunRequest("u", "s", "adk-go/transfer", true), nil)
	agent.Close()
	harness.Post(t, service.Address(), adkserver.RunRequest("u", "s", "adk-go/transfer", true), nil)
	service.Stop()
	requests := 0
	for _, s := range receiver.Spans() {
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
