package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/attribute"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/exporter/conventions"
	"github.com/delegraph/delegraph/exporter/tracker"
)

// conventional is a metric that the GenAI conventions define. Its labels are the source and its
// attributes.
type conventional struct {
	metric
	otlpName   string // name over OTLP
	unit       string // UCUM unit
	attributes []attribute.Key
}

func newConventional(otlpName, suffix, unit, help string, attributes ...attribute.Key) conventional {
	labels := []string{"source"}
	for _, key := range attributes {
		labels = append(labels, label(key))
	}
	return conventional{metric{prometheusName(otlpName) + suffix, help, labels}, otlpName, unit, attributes}
}

// prometheusName returns the name of a convention with underscores, as Prometheus exposes it.
func prometheusName(otlpName string) string { return strings.ReplaceAll(otlpName, ".", "_") }

// label returns the Prometheus label of an attribute.
func label(key attribute.Key) string { return prometheusName(string(key)) }

// genAI holds the metrics of one table of the conventions.
type genAI struct {
	agentDuration, workflowDuration, toolDuration, inferenceDuration, firstChunk conventional
	inferenceCalls, toolCalls                                                    conventional
	tokens                                                                       []conventional // without duplicates
}

func newGenAI(n conventions.Table) genAI {
	duration := func(otlpName, help string, attributes ...attribute.Key) conventional {
		return newConventional(otlpName, "_seconds", "s", help, attributes...)
	}
	g := genAI{
		agentDuration: duration(n.AgentDuration, "Duration of agent invocations.",
			n.AgentName, n.ErrorType),
		workflowDuration: duration(n.WorkflowDuration, "Duration of workflows, each a whole run.",
			n.WorkflowName, n.ErrorType),
		inferenceCalls: newConventional(n.InferenceCalls, "", "{inference_call}", "Model calls made directly by an agent invocation, including failed ones. Invocations without one are not counted.", n.AgentName),
		toolCalls:      newConventional(n.ToolCalls, "", "{tool_call}", "Tool calls made directly by an agent invocation, including failed ones and transfers. Invocations with neither a tool call nor a model call are not counted.", n.AgentName),
		toolDuration: duration(n.ToolDuration, "Time from a tool call to its response.",
			n.ToolName, n.AgentName, n.ErrorType),
		inferenceDuration: duration(n.InferenceDuration, "Duration of model responses.",
			n.OperationName, n.ResponseModel, n.ErrorType),
		firstChunk: duration(n.FirstChunk, "Time to the first chunk of a streamed model response.",
			n.OperationName, n.ResponseModel),
	}
	for _, t := range n.Tokens {
		attributes, suffix := []attribute.Key{n.OperationName, n.ResponseModel}, ""
		if t.Label.Valid() {
			attributes = append(attributes, t.Label.Key)
		}
		if t.IsCounter {
			suffix = "_total"
		}
		if last := len(g.tokens) - 1; last < 0 || g.tokens[last].otlpName != t.Name {
			g.tokens = append(g.tokens, newConventional(t.Name, suffix, "{token}", t.Help, attributes...))
		}
	}
	return g
}

// all returns every metric.
func (g genAI) all() []conventional {
	return append([]conventional{g.agentDuration, g.inferenceCalls, g.toolCalls, g.workflowDuration, g.toolDuration, g.inferenceDuration, g.firstChunk}, g.tokens...)
}

// tokens records one kind of token.
type tokens struct {
	conventions.TokenMetric
	kind string // value of the label that tells kinds of tokens apart, or "" if the metric has no such label
	add  func(series key, n float64)
}

// newTokens registers the token metrics. Kinds with the same metric name share one metric.
func newTokens(reg prometheus.Registerer, c *caps, kinds []conventions.TokenMetric, metrics []conventional) (all []tokens) {
	adds := map[string]func(key, float64){}
	for _, m := range metrics {
		if strings.HasSuffix(m.name, "_total") {
			f := m.counter(reg, c)
			adds[m.otlpName] = func(series key, n float64) { f.at(series).Add(n) }
		} else {
			f := m.histogram(reg, c, tokenBuckets)
			adds[m.otlpName] = func(series key, n float64) { f.at(series).Observe(n) }
		}
	}
	for _, t := range kinds {
		all = append(all, tokens{t, t.Label.Value.AsString(), adds[t.Name]})
	}
	return all
}

// observeUsage records the tokens of a response.
func (m *Metrics) observeUsage(r *tracker.Run, operation tracker.OperationKind, model string, u event.Usage) {
	for _, t := range m.tokens {
		if n := t.Count(u); n.Known {
			t.add(key{r.Source, string(operation), model, t.kind}, float64(n.N))
		}
	}
}

// observeRunUsage records tokens that the protocol reports for a run rather than for a response.
func (m *Metrics) observeRunUsage(r *tracker.Run, used tracker.UnattributedUsage) {
	for _, t := range m.tokens {
		if n := t.Count(used.Usage); n.Known && t.IncludesRuns {
			t.add(key{r.Source, string(r.Root.Kind), used.Model, t.kind}, float64(n.N))
		}
	}
}
