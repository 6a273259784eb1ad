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

// Histograms are asked for in both forms: by their classic series and, where a server scrapes only the native one, by that.

// quantile is one of a histogram's, over the window.
func (s scope) quantile(q float64, by, histogram, window string, matchers ...string) string {
	classic := sum(join(by, "le"), growth(s.of(histogram+"_bucket", matchers...), window))
	native := sum(by, growth(s.of(histogram, matchers...), window))
	return fmt.Sprintf("histogram_quantile(%g, %s) or histogram_quantile(%g, %s)", q, classic, q, native)
}

// count is the growth of a histogram's count.
func (s scope) count(by, histogram, window string, matchers ...string) string {
	return s.part("count", by, histogram, window, matchers...)
}

// total is the growth of a histogram's sum.
func (s scope) total(by, histogram, window string, matchers ...string) string {
	return s.part("sum", by, histogram, window, matchers...)
}

func (s scope) part(part, by, histogram, window string, matchers ...string) string {
	classic := sum(by, growth(s.of(histogram+"_"+part, matchers...), window))
	native := sum(by, growth(s.of(histogram, matchers...), window))
	return fmt.Sprintf("(%s or histogram_%s(%s))", classic, part, native)
}

// buckets is a histogram as a heat map shows it: both forms at once would be two maps.
func (s scope) buckets(histogram string, matchers ...string) string {
	increase := func(metric string) string {
		return fmt.Sprintf("increase(%s[%s])", s.of(metric, matchers...), interval)
	}
	return fmt.Sprintf("%s or %s unless %s", sum("le", increase(histogram+"_bucket")), sum("", increase(histogram)), sum("", increase(histogram+"_count")))
}

// growth is by the second where it is drawn over time, and in all where it is said of the whole period.
func growth(series, window string) string {
	if window == period {
		return fmt.Sprintf("increase(%s[%s])", series, window)
	}
	return fmt.Sprintf("rate(%s[%s])", series, window)
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
