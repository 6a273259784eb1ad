package dashboards_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/scanner"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

// names holds the names in an expression.
type names struct {
	selectors []selector
	groupings []string // labels in by (…) and on (…)
	made      []string // labels that the expression creates
}

// selector is a metric with its matchers.
type selector struct {
	metric   string
	function string   // whose argument it is, or ""
	window   string   // of a range
	labels   []string // labels in the matchers
}

// namesIn finds the names in an expression by its tokens. A parser of PromQL would need all of Prometheus as a dependency.
// promtool checks that it is an expression at all.
func namesIn(expr string) names {
	r := &reader{calls: []call{{}}}
	r.Init(strings.NewReader(expr))
	r.Error = func(*scanner.Scanner, string) {}
	r.IsIdentRune = func(c rune, i int) bool {
		return c == '_' || c == ':' || c == '$' || unicode.IsLetter(c) || i > 0 && unicode.IsDigit(c)
	}
	for token := r.Scan(); token != scanner.EOF; token = r.Scan() {
		r.take(token)
	}
	return r.found
}

type reader struct {
	scanner.Scanner
	found  names
	calls  []call // open calls; the first is a sentinel
	called string // the function before the next parenthesis
}

type call struct {
	function string
	commas   int
}

func (r *reader) take(token rune) {
	inner := &r.calls[len(r.calls)-1]
	switch word := r.TokenText(); {
	case token == '(':
		r.calls, r.called = append(r.calls, call{function: r.called}), ""
	case token == ')':
		r.calls = r.calls[:max(1, len(r.calls)-1)]
	case token == ',':
		inner.commas++
	case token == scanner.String && strings.HasPrefix(inner.function, "label_") && inner.commas == 1:
		label, _ := strconv.Unquote(word)
		r.found.made = append(r.found.made, label)
	case token != scanner.Ident || strings.HasPrefix(word, "$") || slices.Contains([]string{"and", "or", "unless", "bool"}, word):
	case word == "offset":
		if r.Scan() == scanner.Int {
			r.Scan() // the unit
		}
	case slices.Contains([]string{"by", "on", "without", "ignoring"}, word):
		r.found.groupings = append(r.found.groupings, r.until(')')...)
	case slices.Contains([]string{"sum", "min", "max", "avg", "count"}, word) || r.Peek() == '(':
		r.called = word
	default:
		r.found.selectors = append(r.found.selectors, r.selector(word, inner.function))
	}
}

func (r *reader) selector(metric, function string) selector {
	s := selector{metric: metric, function: function}
	if r.Peek() == '{' {
		s.labels = r.until('}')
	}
	if r.Peek() == '[' {
		r.Scan()
		for r.Scan() != ']' {
			s.window += r.TokenText()
		}
	}
	return s
}

// until collects the names up to a bracket.
func (r *reader) until(end rune) (words []string) {
	for token := r.Scan(); token != end && token != scanner.EOF; token = r.Scan() {
		if token == scanner.Ident {
			words = append(words, r.TokenText())
		}
	}
	return words
}

// TestNamesIn checks the names found in expressions.
func TestNamesIn(t *testing.T) {
	for expr, want := range map[string]names{
		`up == 0`: {selectors: []selector{{metric: "up"}}},
		`sum by (agent, le) (rate(a_bucket{job=~"$job", x!~"|y"}[5m])) / (b:c > 0)`: {
			selectors: []selector{{metric: "a_bucket", function: "rate", window: "5m", labels: []string{"job", "x"}}, {metric: "b:c"}},
			groupings: []string{"agent", "le"},
		},
		`histogram_quantile(0.95, sum(rate(a{j="k"}[$__rate_interval]))) or b unless on (l) c`: {
			selectors: []selector{{metric: "a", function: "rate", window: "$__rate_interval", labels: []string{"j"}}, {metric: "b"}, {metric: "c"}},
			groupings: []string{"l"},
		},
		`sum(rate(a[5m])) * $__interval_ms / 1000 or a unless a offset $__range unless b offset 30m > c`: {
			selectors: []selector{{metric: "a", function: "rate", window: "5m"}, {metric: "a"}, {metric: "a"}, {metric: "b"}, {metric: "c"}},
		},
		`label_join(label_replace(sum by (x) (a), "to", "$1", "x", "(.*)"), "id", " → ", "x", "to") or time()`: {
			selectors: []selector{{metric: "a", function: "sum"}}, groupings: []string{"x"}, made: []string{"to", "id"},
		},
	} {
		if diff := cmp.Diff(want, namesIn(expr), cmp.AllowUnexported(names{}, selector{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", expr, diff)
		}
	}
}
