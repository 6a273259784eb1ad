package harness

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// everywhere lists the metrics that have samples for every frame.
var everywhere = []string{"delegraph_frames_total", "delegraph_frame_bytes_total", "delegraph_build_info"}

// ParseSamples returns the values of counters and gauges, and the counts of histograms, by series. It omits the labels that all
// series share.
func ParseSamples(t *testing.T, text []byte) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		series, value, _ := strings.Cut(lines.Text(), "} ")
		name, labels, labelled := strings.Cut(series, "{")
		if !labelled || strings.HasPrefix(name, "#") || strings.HasSuffix(name, "_bucket") || strings.HasSuffix(name, "_sum") || slices.Contains(everywhere, name) {
			continue
		}
		n, err := strconv.ParseFloat(value, 64)
		if err != nil {
			t.Fatal(err)
		}
		var kept []string
		for label := range strings.SplitSeq(labels, ",") {
			if key, v, _ := strings.Cut(label, "="); key != "source" && key != "dialect" && v != `""` {
				kept = append(kept, key+"="+strings.Trim(v, `"`))
			}
		}
		all[name+"{"+strings.Join(kept, " ")+"}"] += n
	}
	return all
}

// Path returns the names of a span's ancestors and its own, with its number among siblings of the same name. It omits names of
// the run and of model calls, because they may be set late.
func (all SpanLines) Path(s SpanLine) string {
	parent := slices.IndexFunc(all, func(p SpanLine) bool { return p.SpanID == s.ParentSpanID })
	if parent < 0 {
		return "run"
	}
	n := 1
	for _, other := range all {
		earlier := cmp.Or(cmp.Compare(other.StartTimeUnixNano, s.StartTimeUnixNano), cmp.Compare(other.EndTimeUnixNano, s.EndTimeUnixNano)) < 0
		if earlier && other.ParentSpanID == s.ParentSpanID && other.title() == s.title() {
			n++
		}
	}
	place := all.Path(all[parent]) + " > " + s.title()
	if n > 1 {
		place += fmt.Sprint(" #", n)
	}
	return place
}

func (s SpanLine) title() string {
	if strings.HasPrefix(s.Name, "chat ") {
		return "chat"
	}
	return s.Name
}

// commonAttributes lists the attributes of every span of a run except the root.
var commonAttributes = []string{"gen_ai.operation.name", "gen_ai.conversation.id", "session.id", "delegraph.run.id", "delegraph.dialect", "delegraph.source", "delegraph.timing"}

// Facts returns the facts of a span besides its place: its duration or name, its failure, attributes, events and links.
func (all SpanLines) Facts(s SpanLine) (facts []string) {
	if place := all.Path(s); place == "run" || s.title() == "chat" {
		facts = append(facts, s.Name)
	} else {
		took := time.Duration(s.EndTimeUnixNano - s.StartTimeUnixNano)
		facts = append(facts, fmt.Sprint("took ", took.Round(time.Microsecond)))
	}
	if s.Status.Code == 2 {
		facts = append(facts, "failed")
	}
	for _, a := range s.Attributes {
		if !slices.Contains(commonAttributes, a.Key) {
			facts = append(facts, a.String())
		}
	}
	for _, e := range s.Events {
		var of []string
		for _, a := range e.Attributes {
			of = append(of, a.String())
		}
		facts = append(facts, fmt.Sprintf("event %s {%s}", e.Name, strings.Join(of, ", ")))
	}
	for _, l := range s.Links {
		i := slices.IndexFunc(all, func(other SpanLine) bool { return other.SpanID == l.SpanID })
		name := "another trace"
		if i >= 0 {
			name = all[i].Name
		}
		facts = append(facts, "link to "+name)
	}
	return facts
}

// SpanLine is a span in OTLP/JSON with the members that a replay writes.
type SpanLine struct {
	TraceID, SpanID, ParentSpanID string
	Name                          string
	Kind                          int
	StartTimeUnixNano             int64 `json:",string"`
	EndTimeUnixNano               int64 `json:",string"`
	Attributes                    []AttributeLine
	Events                        []struct {
		TimeUnixNano int64 `json:",string"`
		Name         string
		Attributes   []AttributeLine
	}
	Links []struct {
		TraceID, SpanID string
		Attributes      []AttributeLine
	}
	Status struct {
		Code    int
		Message string
	}
}

// AttributeLine is an attribute in OTLP/JSON.
type AttributeLine struct {
	Key   string
	Value json.RawMessage
}

func (a AttributeLine) String() string {
	var value map[string]json.RawMessage
	if json.Unmarshal(a.Value, &value) != nil || len(value) != 1 {
		return a.Key + "=?"
	}
	for kind, content := range value {
		if kind == "intValue" { // a string in OTLP/JSON
			content = bytes.Trim(content, `"`)
		}
		return a.Key + "=" + string(content)
	}
	return ""
}

// SpanLines are the spans of one or more traces.
type SpanLines []SpanLine

// ParseSpans returns the spans of OTLP/JSON lines.
func ParseSpans(t *testing.T, lines []byte) (all SpanLines) {
	t.Helper()
	for line := range bytes.Lines(lines) {
		var data struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans SpanLines } }
		}
		if err := json.Unmarshal(line, &data); err != nil {
			t.Fatal(err)
		}
		for _, resource := range data.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				all = append(all, scope.Spans...)
			}
		}
	}
	return all
}

// Print writes each trace as a tree, with times in milliseconds since the trace began.
func (all SpanLines) Print(w *strings.Builder) {
	below, names := map[string]SpanLines{}, map[string]string{}
	for _, s := range all {
		below[s.ParentSpanID] = append(below[s.ParentSpanID], s)
		names[s.SpanID] = s.Name
	}
	for _, root := range below[""] {
		fmt.Fprintf(w, "trace %s from %s ns\n", root.TraceID, strconv.FormatInt(root.StartTimeUnixNano, 10))
		SpanLines{root}.printBelow(w, below, names, root.StartTimeUnixNano, "  ")
	}
}

func (all SpanLines) printBelow(w *strings.Builder, below map[string]SpanLines, names map[string]string, zero int64, indent string) {
	slices.SortStableFunc(all, func(a, b SpanLine) int {
		return cmp.Or(cmp.Compare(a.StartTimeUnixNano, b.StartTimeUnixNano), cmp.Compare(a.EndTimeUnixNano, b.EndTimeUnixNano), cmp.Compare(a.SpanID, b.SpanID))
	})
	for _, s := range all {
		fmt.Fprintf(w, "%s%s %s, %s, %g to %g ms", indent, s.Name, s.SpanID, spanKinds[s.Kind],
			float64(s.StartTimeUnixNano-zero)/1e6, float64(s.EndTimeUnixNano-zero)/1e6)
		if s.Status.Code != 0 || s.Status.Message != "" {
			fmt.Fprintf(w, ", status %d %s", s.Status.Code, s.Status.Message)
		}
		w.WriteString("\n")
		printAttributes(w, indent+"  | ", s.Attributes)
		for _, e := range s.Events {
			fmt.Fprintf(w, "%s  | event %s at %g ms\n", indent, e.Name, float64(e.TimeUnixNano-zero)/1e6)
			printAttributes(w, indent+"  |   ", e.Attributes)
		}
		for _, l := range s.Links {
			fmt.Fprintf(w, "%s  | link to %s %s\n", indent, names[l.SpanID], l.SpanID)
			printAttributes(w, indent+"  |   ", l.Attributes)
		}
		below[s.SpanID].printBelow(w, below, names, zero, indent+"  ")
	}
}

var spanKinds = map[int]string{1: "internal", 2: "server", 3: "client"}

func printAttributes(w *strings.Builder, indent string, attributes []AttributeLine) {
	if len(attributes) == 0 {
		return
	}
	w.WriteString(indent)
	for i, a := range attributes {
		if i > 0 {
			w.WriteString(" ")
		}
		w.WriteString(a.String())
	}
	w.WriteString("\n")
}
