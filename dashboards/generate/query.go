package main

import (
	"fmt"
	"strings"
)

// Grafana's own variables: the shortest window in which a rate is sound, the time from one point to the next, the same in
// milliseconds, and the period shown.
const (
	interval = "$__rate_interval"
	point    = "$__interval"
	step     = "$__interval_ms"
	period   = "$__range"
)

// scope is the matchers of a dashboard's variables, and asks only of series that these select.
type scope []string

func (s scope) of(metric string, matchers ...string) string {
	return metric + "{" + strings.Join(append(s[:len(s):len(s)], matchers...), ", ") + "}"
}

// rate is a counter's by the second.
func (s scope) rate(by, counter string, matchers ...string) string {
	return sum(by, fmt.Sprintf("rate(%s[%s])", s.of(counter, matchers...), interval))
}

// each is by how much a counter grew from one point to the next. The window of a rate is longer than that: what grew in it would
// stand in several bars, and bars could not be added up.
func (s scope) each(by, counter string, matchers ...string) string {
	return s.rate(by, counter, matchers...) + " * " + step + " / 1000"
}

// eachFromFirst is each for a counter whose series begin with what they first count, which no rate has. A series is new where it was
// not there one point ago; after a gap in the scrapes that is longer than five minutes, old series are new too.
func (s scope) eachFromFirst(by, counter string, matchers ...string) string {
	series := s.of(counter, matchers...)
	return sum(by, fmt.Sprintf("%s unless %s offset %s or rate(%s[%s]) * %s / 1000", series, series, point, series, interval, step))
}

// increase is by how much a counter grew in the period.
func (s scope) increase(by, counter string, matchers ...string) string {
	return sum(by, fmt.Sprintf("increase(%s[%s])", s.of(counter, matchers...), period))
}

// all is how much a counter counted in the period, with what its series began with, which no increase has: of what happened once,
// the series begins at 1. A series is held to be new that was not there before the period, so a gap in the scrapes makes it too many.
func (s scope) all(by, counter string, matchers ...string) string {
	series := s.of(counter, matchers...)
	return sum(by, fmt.Sprintf("%s unless %s offset %s or increase(%s[%s])", series, series, period, series, period))
}

// latest is a gauge.
func (s scope) latest(by, gauge string, matchers ...string) string {
	return sum(by, s.of(gauge, matchers...))
}

// histogram is a histogram by each name that it may have: which one is the choice of OTEL_SEMCONV_STABILITY_OPT_IN.
type histogram []string

// Histograms are asked for in both forms: by their classic series and, where a server scrapes only the native one, by that.

// growth is by how much a histogram's series grew: by the second where it is drawn over time, and in all where it is said of the whole
// period.
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

// quantile is one of a histogram's, over the window.
func (s scope) quantile(q float64, by string, h histogram, window string, matchers ...string) string {
	classic := sum(join(by, "le"), s.growth(h, "_bucket", window, matchers...))
	native := sum(by, s.growth(h, "", window, matchers...))
	return fmt.Sprintf("histogram_quantile(%g, %s) or histogram_quantile(%g, %s)", q, classic, q, native)
}

// count is the growth of a histogram's count.
func (s scope) count(by string, h histogram, window string, matchers ...string) string {
	return s.part("count", by, h, window, matchers...)
}

// counted is by how much a histogram's count grew from one point to the next, with what new series began with where they are classic.
func (s scope) counted(by string, h histogram, matchers ...string) string {
	var either []string
	for _, name := range h {
		either = append(either, s.eachFromFirst(by, name+"_count", matchers...))
	}
	native := sum(by, s.growth(h, "", interval, matchers...))
	return fmt.Sprintf("%s or histogram_count(%s) * %s / 1000", strings.Join(either, " or "), native, step)
}

// total is the growth of a histogram's sum.
func (s scope) total(by string, h histogram, window string, matchers ...string) string {
	return s.part("sum", by, h, window, matchers...)
}

func (s scope) part(part, by string, h histogram, window string, matchers ...string) string {
	classic := sum(by, s.growth(h, "_"+part, window, matchers...))
	native := sum(by, s.growth(h, "", window, matchers...))
	return fmt.Sprintf("(%s or histogram_%s(%s))", classic, part, native)
}

// mean is that of what a histogram measured; nothing where it measured nothing.
func (s scope) mean(by string, h histogram, matchers ...string) string {
	return fmt.Sprintf("%s / (%s > 0)", s.total(by, h, interval, matchers...), s.count(by, h, interval, matchers...))
}

// used is the rate of the tokens used, of a histogram whose label has their type, or of a counter of each type.
func (s scope) used(by string) string {
	const usage, label = "gen_ai_client_token_usage", "gen_ai_token_type"
	counter := func(kind string) string {
		return fmt.Sprintf(`label_replace(rate(%s[%s]), %q, %q, "", "")`, s.of("gen_ai_client_inference_usage_"+kind+"_tokens_total"), interval, label, kind)
	}
	classic := sum(by, s.growth(histogram{usage}, "_sum", interval)+" or "+counter("input")+" or "+counter("output"))
	return fmt.Sprintf("(%s or histogram_sum(%s))", classic, sum(by, s.growth(histogram{usage}, "", interval)))
}

// buckets is a histogram as a heat map shows it: both forms at once would be two maps.
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

// share is a part of a whole: 0 where there is no part, nothing where there is no whole.
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
