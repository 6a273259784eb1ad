// Command summary reads the output of "go test -json" from standard input. It prints the output of failed tests and a line per
// package, as go test does, and ends with the tests that were skipped, counted by reason. It exits with 1 if a test failed.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	failed, err := summarize(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
	}
	if failed || err != nil {
		os.Exit(1)
	}
}

// testEvent is one line of the output; see "go doc cmd/test2json" and, for build-output, "go help buildjson".
type testEvent struct {
	Action, Package, Test, Output string
}

// key identifies a test; its Test is empty for the package itself.
type key struct{ Package, Test string }

// summarize copies what a reader needs from in to out, and reports whether anything failed.
func summarize(in io.Reader, out io.Writer) (failed bool, err error) {
	output := map[key][]string{} // of tests that still run
	skipped := map[string]int{}  // number of tests by reason
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e testEvent
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return failed, fmt.Errorf("read the output of go test -json: %w", err)
		}
		k := key{e.Package, e.Test}
		switch e.Action {
		case "output":
			output[k] = append(output[k], e.Output)
		case "build-output":
			fmt.Fprint(out, e.Output)
		case "build-fail":
			failed = true
		case "pass":
			if e.Test == "" {
				writePackage(out, output[k])
			}
			delete(output, k)
		case "skip":
			if e.Test == "" {
				writePackage(out, output[k])
			} else {
				skipped[reason(output[k])]++
			}
			delete(output, k)
		case "fail":
			failed = true
			if e.Test == "" {
				writeUnfinished(out, output, e.Package)
			}
			fmt.Fprint(out, strings.Join(output[k], ""))
			delete(output, k)
		}
	}
	writeSkipped(out, skipped)
	return failed, lines.Err()
}

// writePackage writes the result line of a package that did not fail.
func writePackage(out io.Writer, lines []string) {
	for _, line := range lines {
		if line != "PASS\n" {
			fmt.Fprint(out, line)
		}
	}
}

// writeUnfinished writes the output of the tests that were running when their package ended, for example by a panic.
func writeUnfinished(out io.Writer, output map[key][]string, pkg string) {
	for k, lines := range output {
		if k.Package == pkg && k.Test != "" {
			fmt.Fprint(out, strings.Join(lines, ""))
			delete(output, k)
		}
	}
}

// logged matches a line that a test logged, after the file and line that logged it.
var logged = regexp.MustCompile(`^\s+\S+\.go:\d+: (.*)`)

// reason returns the message of the test's call of Skip, which is the last line that it logged.
func reason(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if m := logged.FindStringSubmatch(line); m != nil {
			return m[1]
		}
	}
	return "no reason given"
}

// writeSkipped writes the reasons, most frequent first.
func writeSkipped(out io.Writer, skipped map[string]int) {
	if len(skipped) == 0 {
		return
	}
	fmt.Fprintln(out, "\nNot run (tests, why):")
	reasons := slices.SortedFunc(maps.Keys(skipped), func(a, b string) int {
		if skipped[a] != skipped[b] {
			return skipped[b] - skipped[a]
		}
		return strings.Compare(a, b)
	})
	for _, why := range reasons {
		fmt.Fprintf(out, "%5d  %s\n", skipped[why], why)
	}
}
