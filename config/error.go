package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Error is one mistake in a configuration: where it is, what is wrong, and what to do.
type Error struct {
	File    string // the name given to Load or Parse; "" for a configuration made in code
	Line    int    // from 1; 0 if there is no line
	Key     string // dotted, with indexes: sources[1].proxy.upstream; "" for the file as a whole
	Problem string
	Remedy  string
}

// Error returns the mistake on one line.
func (e *Error) Error() string {
	where := e.File
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	parts := slices.DeleteFunc([]string{where, e.Key, e.Problem}, func(part string) bool { return part == "" })
	return strings.Join(parts, ": ") + "; " + e.Remedy
}

// report collects the mistakes of one configuration. It knows the line of each key.
type report struct {
	file     string
	lines    map[string]int  // key → line; empty for a configuration made in code
	unread   map[string]bool // keys whose value could not be read; no other mistake is reported for them
	mistakes []*Error
}

func newReport(file string) *report {
	return &report{file: file, lines: make(map[string]int), unread: make(map[string]bool)}
}

// unreadable reports that the value of a key could not be read.
func (r *report) unreadable(key, problem, remedy string) {
	r.unread[key] = true
	r.add(key, problem, remedy)
}

// invalid reports that the value of a key, or its absence, is a mistake. It does nothing if the value could
// not be read, because then it is only a default.
func (r *report) invalid(key, problem, remedy string) {
	for k := key; k != ""; k = parent(k) {
		if r.unread[k] {
			return
		}
	}
	if !r.unread[""] {
		r.add(key, problem, remedy)
	}
}

func (r *report) add(key, problem, remedy string) {
	r.mistakes = append(r.mistakes, &Error{File: r.file, Line: r.line(key), Key: key, Problem: problem, Remedy: remedy})
}

// line returns the line of a key or, if the key is missing, of its closest parent.
func (r *report) line(key string) int {
	for ; key != ""; key = parent(key) {
		if line := r.lines[key]; line > 0 {
			return line
		}
	}
	return r.lines[""]
}

// missingOrEmpty returns the problem of a key without a value: it is missing, or its value is empty.
func (r *report) missingOrEmpty(key string) string {
	if r.lines[key] > 0 {
		return "the value is empty"
	}
	return "missing"
}

func parent(key string) string {
	return key[:max(0, strings.LastIndexAny(key, ".["))]
}

// maxMistakes is the number of mistakes that are listed. A file with more is probably no configuration.
const maxMistakes = 100

// err returns the mistakes, joined in the order of the file's lines, or nil.
func (r *report) err() error {
	slices.SortStableFunc(r.mistakes, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
	if more := len(r.mistakes) - maxMistakes; more > 0 {
		rest := &Error{File: r.file, Problem: fmt.Sprintf("there are %d more mistakes", more), Remedy: "correct these first"}
		r.mistakes = append(r.mistakes[:maxMistakes], rest)
	}
	errs := make([]error, len(r.mistakes))
	for i, mistake := range r.mistakes {
		errs[i] = mistake
	}
	return errors.Join(errs...)
}
