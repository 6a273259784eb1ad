package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Error is one mistake in a configuration: where it stands, what is wrong, and what to do about it.
type Error struct {
	File    string // as its reader named it, or "" for a configuration made in code
	Line    int    // from 1; 0 where there is no line
	Key     string // dotted, with indexes: sources[1].proxy.upstream; "" for the file as a whole
	Problem string
	Remedy  string
}

// Error prints the mistake on one line.
func (e *Error) Error() string {
	where := e.File
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	parts := slices.DeleteFunc([]string{where, e.Key, e.Problem}, func(part string) bool { return part == "" })
	return strings.Join(parts, ": ") + "; " + e.Remedy
}

// report gathers the mistakes of one configuration, and knows where each of its keys stands.
type report struct {
	file     string
	lines    map[string]int  // key → line; empty for a configuration made in code
	unread   map[string]bool // keys without a readable value, about which nothing more is to be said
	mistakes []*Error
}

func newReport(file string) *report {
	return &report{file: file, lines: make(map[string]int), unread: make(map[string]bool)}
}

// unreadable says that no value of the key could be read.
func (r *report) unreadable(key, problem, remedy string) {
	r.unread[key] = true
	r.add(key, problem, remedy)
}

// wrong says that the key's value, or its absence, is a mistake, unless the value is only a stand-in for one that
// could not be read.
func (r *report) wrong(key, problem, remedy string) {
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

// line is where the key stands or, for one that is missing, what it is missing from.
func (r *report) line(key string) int {
	for ; key != ""; key = parent(key) {
		if line := r.lines[key]; line > 0 {
			return line
		}
	}
	return r.lines[""]
}

// lack tells a key that is not there from one with an empty value.
func (r *report) lack(key string) string {
	if r.lines[key] > 0 {
		return "the value is empty"
	}
	return "missing"
}

func parent(key string) string {
	return key[:max(0, strings.LastIndexAny(key, ".["))]
}

// maxMistakes is more than anyone corrects at once; what has more is no configuration.
const maxMistakes = 100

// err joins the mistakes in the order of the file's lines.
func (r *report) err() error {
	slices.SortStableFunc(r.mistakes, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
	if more := len(r.mistakes) - maxMistakes; more > 0 {
		rest := &Error{File: r.file, Problem: fmt.Sprintf("there are %d mistakes more", more), Remedy: "correct these first"}
		r.mistakes = append(r.mistakes[:maxMistakes], rest)
	}
	errs := make([]error, len(r.mistakes))
	for i, mistake := range r.mistakes {
		errs[i] = mistake
	}
	return errors.Join(errs...)
}
