// Command bench-peers compares Delegraph with similar programs, alternately on one machine, and writes the results into the
// tables of a document.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// section is one generated part of the document.
type section struct {
	name    string
	measure func(*bench) (string, error)
	printed bool // not in the document, which has the most important results in the list of targets
}

// sections lists the sections in the order in which they are measured. bench.found holds results that later ones need.
var sections = []section{
	{name: "machine", measure: (*bench).machine},
	{name: "pipeline", measure: (*bench).pipeline, printed: true},
	{name: "shares", measure: (*bench).shares, printed: true},
	{name: "proxy", measure: (*bench).proxyInProcess, printed: true},
	{name: "proxy-peers", measure: (*bench).proxyPeers, printed: true},
	{name: "fan-out", measure: (*bench).fanOut, printed: true},
	{name: "fan-out-peers", measure: (*bench).fanOutPeers, printed: true},
	{name: "rest", measure: (*bench).atRest, printed: true},
	{name: "growth", measure: (*bench).growth, printed: true},
	{name: "targets", measure: (*bench).targets},
}

// bench is one run of everything.
type bench struct {
	context context.Context
	root    string // of the repository
	scratch string // a folder that is removed at the end
	binary  string // of delegraph
	quick   bool   // a trial with too few rounds for valid results
	long    bool
	found   map[string]samples
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == "as" {
		exit(actAs(os.Args[2], os.Args[3:]))
	}
	exit(run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench-peers:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run() error {
	document := flag.String("doc", "docs/design/performance.md", "the document to write into")
	only := flag.String("only", "", "measure only the parts whose name this regular expression matches; the list of targets needs all of them")
	quick := flag.Bool("quick", false, "measure with too few rounds for valid results, to see whether everything works")
	long := flag.Bool("long", false, "let a run grow to ten million events, which takes minutes")
	flag.Parse()
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	b := &bench{context: ctx, quick: *quick, long: *long, found: map[string]samples{}}
	if b.root, err = repository(); err != nil {
		return err
	}
	if b.scratch, err = os.MkdirTemp("", "bench-peers"); err != nil {
		return err
	}
	defer os.RemoveAll(b.scratch)
	b.binary = filepath.Join(b.scratch, "delegraph")
	if err := b.build(); err != nil {
		return err
	}
	for _, s := range sections {
		if !wanted.MatchString(s.name) {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		begun, load := time.Now(), loadAverage()
		fmt.Fprintf(os.Stderr, "== %s\n", s.name)
		text, err := s.measure(b)
		if err != nil {
			if errors.Is(err, context.Canceled) {
				return err
			}
			fmt.Fprintf(os.Stderr, "%s: %v\n", s.name, err)
			text = fmt.Sprintf("Not measured: %s.\n", firstLine(err))
		}
		if s.name != "machine" && s.name != "targets" {
			text += fmt.Sprintf("\n%s, load average %s to %s.\n", begun.UTC().Format("2006-01-02 15:04 UTC"), load, loadAverage())
		}
		fmt.Fprintf(os.Stderr, "%s(%.0f s)\n", text, time.Since(begun).Seconds())
		if s.printed {
			continue
		}
		if err := replace(*document, s.name, text); err != nil {
			return err
		}
	}
	return nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// repository returns the parent of the working directory that contains the main module.
func repository() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "cmd", "delegraph", "main.go")); missing == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("run this inside the repository")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}
