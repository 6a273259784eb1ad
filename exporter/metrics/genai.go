package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// conventional is a metric that the GenAI conventions name. Its labels are the source and the attributes.
type conventional struct {
	metric
	sent       string // its name over OTLP
	unit       string // by UCUM
	attributes []attribute.Key
}

func newConventional(sent, suffix, unit, help string, attributes ...attribute.Key) conventional {
	labels := []string{"source"}
	for _, key := range attributes {
		labels = append(labels, label(key))
	}
	return conventional{metric{scraped(sent) + suffix, help, labels}, sent, unit, attributes}
}

// scraped returns a name of the conventions in the characters that Prometheus has by default.
func scraped(sent string) string { return strings.ReplaceAll(sent, ".", "_") }

// label returns the label that an attribute is.
func label(key attribute.Key) string { return scraped(string(key)) }

// genAI holds the metrics of the conventions, by one table of names.
type genAI struct {
	agentDuration, toolDuration, inferenceDuration conventional
	tokens                                         []conventional // each once
}

func newGenAI(n conventions.Table) genAI {
	duration := func(sent, help string, attributes ...attribute.Key) conventional {
		return newConventional(sent, "_seconds", "s", help, attributes...)
	}
	g := genAI{
		agentDuration: duration(n.AgentDuration, "Duration of agents' operations, equal to that of their spans; without those whose times are unknown.",
			n.AgentName, n.ErrorType),
		toolDuration: duration(n.ToolDuration, "Time from a tool's call to its response, equal to the duration of its span; without those whose times are unknown.",
			n.ToolName, n.AgentName, n.ErrorType),
		inferenceDuration: duration(n.InferenceDuration, "Duration of model responses, equal to that of their spans; without those whose times are unknown.",
			n.OperationName, n.ResponseModel, n.ErrorType),
	}
	for _, t := range n.Tokens {
		attributes, suffix := []attribute.Key{n.OperationName, n.ResponseModel}, ""
		if t.Label.Valid() {
			attributes = append(attributes, t.Label.Key)
		}
		if t.Total {
			suffix = "_total"
		}
		if last := len(g.tokens) - 1; last < 0 || g.tokens[last].sent != t.Name {
			g.tokens = append(g.tokens, newConventional(t.Name, suffix, "{token}", t.Help, attributes...))
		}
	}
	return g
}

// all returns every metric.
func (g genAI) all() []conventional {
	return append([]conventional{g.agentDuration, g.toolDuration, g.inferenceDuration}, g.tokens...)
}

// tokens counts one kind of tokens.
type tokens struct {
	conventions.Tokens
	add func(n float64, source, operation, model string)
}

// newTokens registers the metrics of tokens. Kinds that are one metric share it.
func newTokens(reg prometheus.Registerer, c *caps, kinds []conventions.Tokens, metrics []conventional) (all []tokens) {
	totals, histograms := map[string]*family[prometheus.Counter]{}, map[string]*family[prometheus.Observer]{}
	for _, m := range metrics {
		if strings.HasSuffix(m.name, "_total") {
			totals[m.sent] = m.counter(reg, c)
		} else {
			histograms[m.sent] = m.histogram(reg, c, tokenBuckets)
		}
	}
	for _, t := range kinds {
		var own []string
		if t.Label.Valid() {
			own = []string{t.Label.Value.AsString()}
		}
		add := func(n float64, labels ...string) { histograms[t.Name].with(labels...).Observe(n) }
		if t.Total {
			add = func(n float64, labels ...string) { totals[t.Name].with(labels...).Add(n) }
		}
		all = append(all, tokens{t, func(n float64, source, operation, model string) {
			add(n, append([]string{source, operation, model}, own...)...)
		}})
	}
	return all
}

// observeUsage measures the tokens of a response.
func (m *Metrics) observeUsage(r *tracker.Run, operation tracker.OperationKind, model string, u event.Usage) {
	for _, t := range m.tokens {
		if n := t.Of(u); n.Known {
			t.add(float64(n.N), r.Source, string(operation), model)
		}
	}
}

// observeRunUsage measures the tokens of a whole run, where the protocol ties them to no response.
func (m *Metrics) observeRunUsage(r *tracker.Run, used tracker.Metered) {
	for _, t := range m.tokens {
		if n := t.Of(used.Usage); n.Known && t.Runs {
			t.add(float64(n.N), r.Source, string(r.Root.Kind), used.Model)
		}
	}
}
