package main

import (
	"fmt"
	"strings"
)

// Grafana's own variables: the shortest window in which a rate is reliable, the time between two
// points, the same in milliseconds, the period shown, and the same in seconds.
const (
	interval = "$__rate_interval"
	point    = "$__interval"
	step     = "$__interval_ms"
	period   = "$__range"
	seconds  = "$__range_s"
)

// scope holds the label matchers of a dashboard's variables. Its methods build queries for the series
// that the variables select.
type scope []string

func (s scope) of(metric string, matchers ...string) string {
	return metric + "{" + strings.Join(append(s[:len(s):len(s)], matchers...), ", ") + "}"
}

// rate returns the rate of a counter per second.
func (s scope) rate(by, counter string, matchers ...string) string {
	return sum(by, fmt.Sprintf("rate(%s[%s])", s.of(counter, matchers...), interval))
}

// each returns the growth of a counter between two points. An increase over the window of a rate,
// which is longer, would show the same growth in several bars.
func (s scope) each(by, counter string, matchers ...string) string {
	return s.rate(by, counter, matchers...) + " * " + step + " / 1000"
}

// eachFromFirst is like each, for a counter with series that begin with their first value.
func (s scope) eachFromFirst(by, counter string, matchers ...string) string {
	series := s.of(counter, matchers...)
	// The first scrape of a new process may be minutes after its start.
	return sum(by, fromFirst(series, point, step+" / 1000 - 300", fmt.Sprintf("rate(%s[%s]) * %s / 1000", series, interval, step)))
}

// fromFirst adds the first values of new series, which increases and rates miss, to the growth of a
// counter within the window. A series is new if it did not exist before the window although its
// process was scraped then, or because the process started since, at most age seconds ago. If such a
// series was reset within the window, it has grown by more than its value.
func fromFirst(series, window, age, growth string) string {
	return fmt.Sprintf("%[1]s unless %[1]s offset %[2]s and on (namespace, job, instance) (delegraph_build_info offset %[2]s or process_start_time_seconds > time() - %[3]s) unless %[1]s < %[4]s or %[4]s",
		series, window, age, growth)
}

// increase returns the growth of a counter in the period.
func (s scope) increase(by, counter string, matchers ...string) string {
	return sum(by, fmt.Sprintf("increase(%s[%s])", s.of(counter, matchers...), period))
}

// increaseFromFirst is like increase, for a counter with series that begin with their first value.
func (s scope) increaseFromFirst(by, counter string, matchers ...string) string {
	series := s.of(counter, matchers...)
	return sum(by, fromFirst(series, period, seconds, fmt.Sprintf("increase(%s[%s])", series, period)))
}

// latest returns the value of a gauge.
func (s scope) latest(by, gauge string, matchers ...string) string {
	return sum(by, s.of(gauge, matchers...))
}

// histogram holds the names that a histogram may have. OTEL_SEMCONV_STABILITY_OPT_IN selects one.
type histogram []string

// Queries of histograms read both forms: the classic series, and the native histogram in case the
// server scrapes only that.

// growth returns how much a histogram's series grew: per second for a panel over time, and in total if
// the window is the whole period.
func (s scope) growth(h histogram, suffix, window string, matchers ...string) string {
	function := "rate"
	if window == period {
		function = "increase"
	}
	var either []string
	for _, name := range h {
		either = append(either, fmt.Sprintf("%s(%s[%s])", function, s.of(name+suffix, matchers...), window))
	}
	return strings.Join(either, " or ")
}

// quantile returns a quantile of a histogram over the window.
func (s scope) quantile(q float64, by string, h histogram, window string, matchers ...string) string {
	classic := sum(join(by, "le"), s.growth(h, "_bucket", window, matchers...))
	native := sum(by, s.growth(h, "", window, matchers...))
	return fmt.Sprintf("histogram_quantile(%g, %s) or histogram_quantile(%g, %s)", q, classic, q, native)
}

// count returns the growth of a histogram's count.
func (s scope) count(by string, h histogram, window string, matchers ...string) string {
	return s.part("count", by, h, window, matchers...)
}

// countFromFirst returns the growth of a histogram's count between two points. It includes the first
// value of new classic series.
func (s scope) countFromFirst(by string, h histogram, matchers ...string) string {
	var either []string
	for _, name := range h {
		either = append(either, s.eachFromFirst(by, name+"_count", matchers...))
	}
	native := sum(by, s.growth(h, "", interval, matchers...))
	return fmt.Sprintf("%s or histogram_count(%s) * %s / 1000", strings.Join(either, " or "), native, step)
}

// total returns the growth of a histogram's sum.
func (s scope) total(by string, h histogram, window string, matchers ...string) string {
	return s.part("sum", by, h, window, matchers...)
}

func (s scope) part(part, by string, h histogram, window string, matchers ...string) string {
	classic := sum(by, s.growth(h, "_"+part, window, matchers...))
	native := sum(by, s.growth(h, "", window, matchers...))
	return fmt.Sprintf("(%s or histogram_%s(%s))", classic, part, native)
}

// mean returns the mean of a histogram's observations, or nothing if there are none.
func (s scope) mean(by string, h histogram, matchers ...string) string {
	return fmt.Sprintf("%s / (%s > 0)", s.total(by, h, interval, matchers...), s.count(by, h, interval, matchers...))
}

// tokens returns the rate of used tokens, from a histogram with a label for the type, or from one
// counter for each type.
func (s scope) tokens(by string) string {
	const usage, label = "gen_ai_client_token_usage", "gen_ai_token_type"
	counter := func(kind string) string {
		return fmt.Sprintf(`label_replace(rate(%s[%s]), %q, %q, "", "")`, s.of("gen_ai_client_inference_usage_"+kind+"_tokens_total"), interval, label, kind)
	}
	classic := sum(by, s.growth(histogram{usage}, "_sum", interval)+" or "+counter("input")+" or "+counter("output"))
	return fmt.Sprintf("(%s or histogram_sum(%s))", classic, sum(by, s.growth(histogram{usage}, "", interval)))
}

// outputTokens returns the rate of output tokens.
func (s scope) outputTokens(by string) string {
	const usage = "gen_ai_client_token_usage"
	isOutput := `gen_ai_token_type="output"`
	counter := fmt.Sprintf("rate(%s[%s])", s.of("gen_ai_client_inference_usage_output_tokens_total"), interval)
	classic := sum(by, s.growth(histogram{usage}, "_sum", interval, isOutput)+" or "+counter)
	return fmt.Sprintf("(%s or histogram_sum(%s))", classic, sum(by, s.growth(histogram{usage}, "", interval, isOutput)))
}

// buckets returns a histogram for a heat map. It uses one form only, because both would give two maps.
func (s scope) buckets(h histogram, matchers ...string) string {
	increase := func(suffix string) string {
		return fmt.Sprintf("increase(%s[%s])", s.of(h[0]+suffix, matchers...), interval)
	}
	return fmt.Sprintf("%s or %s unless %s", sum("le", increase("_bucket")), sum("", increase("")), sum("", increase("_count")))
}

func sum(by, expr string) string {
	if by == "" {
		return "sum(" + expr + ")"
	}
	return fmt.Sprintf("sum by (%s) (%s)", by, expr)
}

// share returns part divided by whole: 0 if part has no series, and nothing if whole is 0.
func share(part, whole string) string {
	return fmt.Sprintf("(%s or 0 * %s) / (%s > 0)", part, whole, whole)
}

func perMinute(expr string) string { return "60 * " + expr }

func join(labels ...string) string {
	var named []string
	for _, l := range labels {
		if l != "" {
			named = append(named, l)
		}
	}
	return strings.Join(named, ", ")
}
