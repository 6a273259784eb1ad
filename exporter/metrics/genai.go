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
	agentDuration, workflowDuration, toolDuration, inferenceDuration, firstChunk conventional
	inferenceCalls, toolCalls                                                    conventional
	tokens                                                                       []conventional // each once
}

func newGenAI(n conventions.Table) genAI {
	duration := func(sent, help string, attributes ...attribute.Key) conventional {
		return newConventional(sent, "_seconds", "s", help, attributes...)
	}
	g := genAI{
		agentDuration: duration(n.AgentDuration, "Duration of agents' operations, equal to that of their spans; without those whose times are unknown, unless the stream says how long they took.",
			n.AgentName, n.ErrorType),
		workflowDuration: duration(n.WorkflowDuration, "Duration of workflows, each of which is a whole run, equal to that of their spans; without those whose times are unknown, unless the stream says how long they took.",
			n.WorkflowName, n.ErrorType),
		inferenceCalls: newConventional(n.InferenceCalls, "", "{inference_call}", "Model calls of one invocation of an agent, failed ones included; "+
			"without those of agents that it called or handed over to, and without invocations in which no model call is seen.", n.AgentName),
		toolCalls: newConventional(n.ToolCalls, "", "{tool_call}", "Tool calls of one invocation of an agent, failed ones and hand-overs included; "+
			"without those of agents that it called or handed over to, and without invocations in which neither a tool call nor a model call is seen.", n.AgentName),
		toolDuration: duration(n.ToolDuration, "Time from a tool's call to its response, equal to the duration of its span; without those whose times are unknown, unless the stream says how long they took.",
			n.ToolName, n.AgentName, n.ErrorType),
		inferenceDuration: duration(n.InferenceDuration, "Duration of model responses, equal to that of their spans; without those whose times are unknown, unless the stream says how long they took.",
			n.OperationName, n.ResponseModel, n.ErrorType),
		firstChunk: duration(n.FirstChunk, "Time from the beginning of a model response, which is that of its span, to its first chunk; without responses that come whole, those that do not end, and those whose times are unknown.",
			n.OperationName, n.ResponseModel),
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
	return append([]conventional{g.agentDuration, g.inferenceCalls, g.toolCalls, g.workflowDuration, g.toolDuration, g.inferenceDuration, g.firstChunk}, g.tokens...)
}

// tokens counts one kind of tokens.
type tokens struct {
	conventions.Tokens
	own string // the value of its label
	add func(series key, n float64)
}

// newTokens registers the metrics of tokens. Kinds that are one metric share it.
func newTokens(reg prometheus.Registerer, c *caps, kinds []conventions.Tokens, metrics []conventional) (all []tokens) {
	adds := map[string]func(key, float64){}
	for _, m := range metrics {
		if strings.HasSuffix(m.name, "_total") {
			f := m.counter(reg, c)
			adds[m.sent] = func(series key, n float64) { f.at(series).Add(n) }
		} else {
			f := m.histogram(reg, c, tokenBuckets)
			adds[m.sent] = func(series key, n float64) { f.at(series).Observe(n) }
		}
	}
	for _, t := range kinds {
		all = append(all, tokens{t, t.Label.Value.AsString(), adds[t.Name]})
	}
	return all
}

// observeUsage measures the tokens of a response.
func (m *Metrics) observeUsage(r *tracker.Run, operation tracker.OperationKind, model string, u event.Usage) {
	for _, t := range m.tokens {
		if n := t.Of(u); n.Known {
			t.add(key{r.Source, string(operation), model, t.own}, float64(n.N))
		}
	}
}

// observeRunUsage measures the tokens of a whole run, where the protocol ties them to no response.
func (m *Metrics) observeRunUsage(r *tracker.Run, used tracker.Metered) {
	for _, t := range m.tokens {
		if n := t.Of(used.Usage); n.Known && t.Runs {
			t.add(key{r.Source, string(r.Root.Kind), used.Model, t.own}, float64(n.N))
		}
	}
}
