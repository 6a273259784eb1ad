package replay_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/metrics"
	"github.com/delegraph/delegraph/exporter/spans"
	"github.com/delegraph/delegraph/exporter/tracker"
	"github.com/delegraph/delegraph/internal/settings"
	"github.com/delegraph/delegraph/test/agents/recorded"
)

// textCheck is a span processor that checks the length of each text of a span, and that the keys of its attributes differ.
type textCheck struct {
	t    *testing.T
	what string // the input
	any  bool   // whether there was a span
}

func (*textCheck) OnStart(context.Context, sdktrace.ReadWriteSpan) {}
func (*textCheck) ForceFlush(context.Context) error                { return nil }
func (*textCheck) Shutdown(context.Context) error                  { return nil }

func (c *textCheck) OnEnd(s sdktrace.ReadOnlySpan) {
	c.any = true
	c.text("the name", s.Name(), event.MaxText)
	c.text("the status", s.Status().Description, event.MaxText)
	c.attributes(s.Attributes())
	for _, e := range s.Events() {
		c.text("an event", e.Name, event.MaxText)
		c.attributes(e.Attributes)
	}
	for _, l := range s.Links() {
		c.attributes(l.Attributes)
	}
}

func (c *textCheck) attributes(all []attribute.KeyValue) {
	keys := map[attribute.Key]bool{}
	for _, a := range all {
		if keys[a.Key] {
			c.t.Errorf("%s: the attribute %s is there twice", c.what, a.Key)
		}
		keys[a.Key] = true
		texts := []string{string(a.Key)}
		switch a.Value.Type() {
		case attribute.STRING:
			texts = append(texts, a.Value.AsString())
		case attribute.STRINGSLICE:
			texts = append(texts, a.Value.AsStringSlice()...)
		}
		for _, text := range texts {
			c.text(string(a.Key), text, event.MaxText)
		}
	}
}

func (c *textCheck) text(where, text string, most int) {
	c.t.Helper()
	if len(text) > most || !utf8.ValidString(text) {
		c.t.Errorf("%s: %s has %d bytes, valid UTF-8 is %v", c.what, where, len(text), utf8.ValidString(text))
	}
}

// jsonText matches a member whose value is a string.
var jsonText = regexp.MustCompile(`"([A-Za-z_]+)"\s*:\s*"((?:[^"\\]|\\.)*)"`)

// TestTextsAreBounded makes the texts of every capture longer, the members of one name at a time. It also puts bytes
// that are not UTF-8 into the lines. In every dialect, all texts of spans and all labels must stay bounded and valid.
func TestTextsAreBounded(t *testing.T) {
	const mostLabel = 256
	c := config.Default()
	for family, folder := range recorded.Captures {
		t.Run(family, func(t *testing.T) {
			check, registry := &textCheck{t: t}, prometheus.NewRegistry()
			provider := spans.NewProvider(sdktrace.AlwaysSample(), check, resource.Empty())
			sink := exporter.New(metrics.New(registry, settings.Metrics(c, conventions.Released())), settings.Tracker(c, func(*tracker.Run) bool { return true }), nil,
				spans.NewObserver(provider, conventions.Released(), ""))
			reader := collector.New(collector.Dialects(), settings.Collector(c), sink)
			read := func(what string, wire []byte) {
				check.what = what
				s := &event.Stream{Source: "test", SingleRun: true, Nonce: what}
				if err := reader.Observe(s, collector.Input{Reader: bytes.NewReader(wire)}); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			for _, file := range recorded.Files(t, folder) {
				wire, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				name := filepath.Base(file)
				for _, member := range members(wire) {
					read(name+", long "+member, jsonText.ReplaceAllFunc(wire, func(found []byte) []byte {
						if string(jsonText.FindSubmatch(found)[1]) != member {
							return found
						}
						return append(found[:len(found)-1:len(found)-1], strings.Repeat("é", event.MaxText)+`"`...)
					}))
				}
				read(name+", not UTF-8", bytes.ReplaceAll(wire, []byte(`":"`), []byte("\":\"\xff")))
				read(name+", ids not UTF-8", bytes.ReplaceAll(wire, []byte("data:"), []byte("id: \xff"+strings.Repeat("i", 2000)+"\nevent: \xfe\ndata:")))
			}
			if !check.any {
				t.Error("there was no span")
			}
			checkLabels(t, registry, mostLabel)
		})
	}
}

// members returns the names of the members of a stream whose values are strings.
func members(wire []byte) (names []string) {
	for _, found := range jsonText.FindAllSubmatch(wire, -1) {
		names = append(names, string(found[1]))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func checkLabels(t *testing.T, registry *prometheus.Registry, most int) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, series := range f.Metric {
			for _, label := range series.Label {
				if v := label.GetValue(); len(v) > most || !utf8.ValidString(v) {
					t.Errorf("%s: %s has %d bytes", f.GetName(), label.GetName(), len(v))
				}
			}
		}
	}
}
