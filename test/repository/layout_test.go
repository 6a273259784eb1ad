package repository_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	module       = "github.com/delegraph/delegraph"
	longestFile  = 400
	thirdParties = "any other module" // in a rule: every import that is neither ours nor the standard library's
)

// rule forbids imports. Patterns are like those of the go command: "./x/..." is a folder of this module and everything below it,
// "x/..." belongs to another module; "*" matches one segment.
type rule struct {
	packages []string // the packages that it applies to,
	except   []string // except these
	never    []string // the imports that it forbids,
	but      []string // except these
	why      string
}

var rules = []rule{
	{
		packages: []string{"./collector/..."},
		never:    []string{"./exporter/...", "./internal/...", "./cmd/..."},
		why:      "the input side must not depend on the output side",
	},
	{
		packages: []string{"./exporter/..."},
		never:    []string{"./collector/..."}, but: []string{"./collector/budget", "./collector/event", "./collector/lenient", "./collector/recovery", "./collector/sse", "./collector/strictjson"},
		why: "the output side may use events, framing and JSON parsing, but no dialect and no source",
	},
	{
		packages: []string{"./config/..."},
		never:    []string{"./..."}, but: []string{"./config/..."},
		why: "every package may import the configuration because it imports no other package",
	},
	{
		packages: []string{"./collector/event"},
		never:    []string{"./...", thirdParties}, but: []string{"./collector/sse", "./collector/strictjson"},
		why: "every package imports event, and so everything that event imports",
	},
	{
		packages: []string{"./collector/budget", "./collector/recovery", "./collector/sse", "./collector/strictjson"},
		never:    []string{"./...", thirdParties},
		why:      "the parsers of hostile bytes, their limits and their panic handling can be reviewed on their own",
	},
	{
		packages: []string{"./..."}, except: []string{"./cmd/..."},
		never: []string{"./cmd/..."},
		why:   "commands wire packages together, so no package imports a command",
	},
	{
		packages: []string{"./exporter/...", "./config/...", "./dashboards/..."},
		never:    []string{"./internal/..."},
		why:      "internal packages wire these packages together, not the other way round",
	},
	{
		packages: []string{"./..."}, except: []string{"./exporter", "./exporter/metrics", "./exporter/web", "./internal/replay", "./internal/sidecar", "./cmd/..."},
		never: []string{"github.com/prometheus/client_golang/..."},
		why:   "packages count in plain numbers, and only exporter/metrics turns them into metrics",
	},
	{
		packages: []string{"./exporter/tracker"},
		never:    []string{"go.opentelemetry.io/...", "github.com/prometheus/..."},
		why:      "spans and metrics are made of the same operations, which depend on neither",
	},
	{
		packages: []string{"./..."}, except: []string{"./collector/dialect/adk/adkserver", "./collector/dialect/adkstudio/studioserver", "./collector/dialect/deepagents/deepserver", "./collector/dialect/dialecttest", "./test/..."},
		never: []string{"testing/...", "./collector/dialect/adk/adkserver", "./collector/dialect/adkstudio/studioserver", "./collector/dialect/deepagents/deepserver", "./collector/dialect/dialecttest", "./test/..."},
		why:   "packages for tests must not become part of the program",
	},
}

// between returns rules that keep the dialects of a tree from importing each other, whatever their names.
func between(tree []file) []rule {
	var apart []rule
	for _, f := range tree {
		rest, ok := strings.CutPrefix(f.pkg, "./collector/dialect/")
		if !ok {
			continue
		}
		name, _, _ := strings.Cut(rest, "/")
		own := "./collector/dialect/" + name + "/..."
		if slices.ContainsFunc(apart, func(r rule) bool { return r.packages[0] == own }) {
			continue
		}
		apart = append(apart, rule{
			packages: []string{own},
			never:    []string{"./collector/dialect/*/..."}, but: []string{own, "./collector/dialect/wire"},
			why: "a dialect can be understood, and deleted, without the others",
		})
	}
	return apart
}

// file is a Go file of the module that is not a test.
type file struct {
	path, pkg string // relative to the module's root: "exporter/web/server.go", "./exporter/web"
	name      string // of the package clause
	doc       string
	imports   []string // of this module as "./exporter/web"
	lines     int
}

// read parses files in this process instead of using `go list`. The test cache cannot see what a child process reads,
// and would report "ok (cached)" for a violation.
func read(root fs.FS) ([]file, error) {
	var tree []file
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return skipped(root, name)
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		tree = append(tree, file{
			path: name, pkg: ours(path.Dir(name)), name: f.Name.Name, doc: f.Doc.Text(),
			imports: imports(f), lines: bytes.Count(source, []byte("\n")),
		})
		return nil
	})
	return tree, err
}

// skipped skips the folders that the go command skips, including nested modules.
func skipped(root fs.FS, dir string) error {
	if dir == "." {
		return nil
	}
	base := path.Base(dir)
	if base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	if _, err := fs.Stat(root, path.Join(dir, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func imports(f *ast.File) []string {
	var paths []string
	for _, spec := range f.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser has reported it
		}
		if rest, ok := strings.CutPrefix(imported+"/", module+"/"); ok {
			imported = ours(strings.TrimSuffix(rest, "/"))
		}
		paths = append(paths, imported)
	}
	return paths
}

func ours(dir string) string {
	if dir == "." || dir == "" {
		return "."
	}
	return "./" + dir
}

func matchesAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, pkg) })
}

func matches(pattern, pkg string) bool {
	if pattern == thirdParties {
		first, _, _ := strings.Cut(pkg, "/")
		return first != "." && strings.Contains(first, ".")
	}
	want, got := strings.Split(pattern, "/"), strings.Split(pkg, "/")
	if last := len(want) - 1; want[last] == "..." {
		want = want[:last]
		got = got[:min(len(got), len(want))]
	}
	return slices.EqualFunc(want, got, func(w, g string) bool { return w == g || w == "*" })
}

// misplaced reports imports that break a rule.
func misplaced(tree []file) []string {
	var found []string
	for _, r := range slices.Concat(rules, between(tree)) {
		for _, f := range tree {
			if !matchesAny(r.packages, f.pkg) || matchesAny(r.except, f.pkg) {
				continue
			}
			for _, imported := range f.imports {
				if matchesAny(r.never, imported) && !matchesAny(r.but, imported) {
					found = append(found, fmt.Sprintf("%s imports %s: %s", f.path, imported, r.why))
				}
			}
		}
	}
	return found
}

// untidy reports long files, and packages without a doc comment.
func untidy(tree []file) []string {
	var found, packages, opened []string
	for _, f := range tree {
		if f.lines > longestFile {
			found = append(found, fmt.Sprintf("%s has %d lines: split it by noun at %d", f.path, f.lines, longestFile))
		}
		packages = append(packages, f.pkg)
		if f.doc == "" {
			continue
		}
		opened = append(opened, f.pkg)
		opening := "Package " + f.name + " "
		if f.name == "main" {
			opening = "Command " + path.Base(f.pkg) + " "
		}
		if !strings.HasPrefix(f.doc, opening) {
			found = append(found, fmt.Sprintf("%s: its package comment does not begin with %q", f.path, opening))
		}
	}
	slices.Sort(packages)
	for _, pkg := range slices.Compact(packages) {
		if !slices.Contains(opened, pkg) {
			found = append(found, pkg+" has no package comment: say in one sentence what it promises")
		}
	}
	return found
}

func TestLayout(t *testing.T) {
	tree, err := read(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(tree, func(f file) bool { return f.pkg == "./collector/event" }) {
		t.Fatal("../.. is not the module's root: collector/event is not in it")
	}
	for _, problem := range slices.Concat(misplaced(tree), untidy(tree)) {
		t.Error(problem)
	}
}

func TestLayoutReports(t *testing.T) {
	const our = module + "/"
	for _, test := range []struct {
		name, path, source string
		want               string // the beginning of the only report, or "" for none
	}{
		{"input imports output", "collector/x.go", importing("collector", our+"exporter/spans"), "collector/x.go imports ./exporter/spans: the input side"},
		{"output imports a dialect", "exporter/stream/x.go", importing("stream", our+"collector/dialect/adk"), "exporter/stream/x.go imports ./collector/dialect/adk: the output side"},
		{"output imports the collector", "exporter/x.go", importing("exporter", our+"collector"), "exporter/x.go imports ./collector: the output side"},
		{"out knows the vocabulary", "exporter/x.go", importing("exporter", our+"collector/event"), ""},
		{"out knows the framing", "exporter/stream/x.go", importing("stream", our+"collector/sse"), ""},
		{"configuration imports a package", "config/x.go", importing("config", our+"collector/event"), "config/x.go imports ./collector/event: every package may"},
		{"event imports a package", "collector/event/x.go", importing("event", our+"collector/dialect"), "collector/event/x.go imports ./collector/dialect: every package imports event"},
		{"event imports a third party", "collector/event/x.go", importing("event", "example.org/x"), "collector/event/x.go imports example.org/x: every package imports event"},
		{"vocabulary reads", "collector/event/x.go", importing("event", our+"collector/strictjson"), ""},
		{"framing imports a third party", "collector/sse/x.go", importing("sse", "golang.org/x/text"), "collector/sse/x.go imports golang.org/x/text: the parsers"},
		{"parser imports a package", "collector/strictjson/x.go", importing("strictjson", our+"collector/sse"), "collector/strictjson/x.go imports ./collector/sse: the parsers"},
		{"framing has the standard library", "collector/sse/x.go", importing("sse", "unicode/utf8"), ""},
		{"module's root", "collector/sse/x.go", importing("sse", module), "collector/sse/x.go imports .: the parsers"},
		{"package imports a command", "dashboards/x.go", importing("dashboards", our+"cmd/delegraph"), "dashboards/x.go imports ./cmd/delegraph: commands"},
		{"input imports internal", "collector/x.go", importing("collector", our+"internal/settings"), "collector/x.go imports ./internal/settings: the input side"},
		{"output imports internal", "exporter/x.go", importing("exporter", our+"internal/settings"), "exporter/x.go imports ./internal/settings: internal packages"},
		{"package imports Prometheus", "exporter/stream/x.go", importing("stream", "github.com/prometheus/client_golang/prometheus"), "exporter/stream/x.go imports github.com/prometheus/client_golang/prometheus: packages count"},
		{"counts for all", "exporter/metrics/x.go", importing("metrics", "github.com/prometheus/client_golang/prometheus"), ""},
		{"tracker imports OpenTelemetry", "exporter/tracker/x.go", importing("tracker", "go.opentelemetry.io/otel"), "exporter/tracker/x.go imports go.opentelemetry.io/otel: spans and metrics"},
		{"tests in the program", "exporter/web/x.go", importing("web", "testing/fstest"), "exporter/web/x.go imports testing/fstest: packages for tests"},
		{"test agents in the program", "exporter/web/x.go", importing("web", our+"test/agents/adkshapes"), "exporter/web/x.go imports ./test/agents/adkshapes: packages for tests"},
		{"test agents have test servers", "test/agents/x/x.go", importing("x", our+"collector/dialect/adk/adkserver"), ""},
		{"dialect imports another", "collector/dialect/a/x.go", importing("a", our+"collector/dialect/b"), "collector/dialect/a/x.go imports ./collector/dialect/b: a dialect"},
		{"dialect imports a part of another", "collector/dialect/a/x.go", importing("a", our+"collector/dialect/ab/wire"), "collector/dialect/a/x.go imports ./collector/dialect/ab/wire: a dialect"},
		{"dialect knows its own", "collector/dialect/a/x.go", importing("a", our+"collector/dialect/a/wire"), ""},
		{"dialect knows the contract", "collector/dialect/a/x.go", importing("a", our+"collector/dialect"), ""},
		{"test", "collector/x_test.go", importing("collector", our+"exporter"), ""},
		{"nested module", "nested/x.go", importing("nested", our+"cmd/delegraph"), ""},
		{"no opening", "config/x.go", "package config\n", "./config has no package comment"},
		{"wrong opening", "config/x.go", "// This reads.\npackage config\n", `config/x.go: its package comment does not begin with "Package config "`},
		{"command's opening", "cmd/x/x.go", "// Package main runs.\npackage main\n", `cmd/x/x.go: its package comment does not begin with "Command x "`},
		{"command", "cmd/x/x.go", "// Command x runs.\npackage main\n", ""},
		{"long", "config/x.go", "// Package config reads.\npackage config\n" + strings.Repeat("\n", 399), "config/x.go has 401 lines"},
		{"long enough", "config/x.go", "// Package config reads.\npackage config\n" + strings.Repeat("\n", 398), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			tree, err := read(fstest.MapFS{
				test.path:       {Data: []byte(test.source)},
				"nested/go.mod": {Data: []byte("module nested\n")},
			})
			if err != nil {
				t.Fatal(err)
			}
			got := slices.Concat(misplaced(tree), untidy(tree))
			if test.want == "" && len(got) == 0 {
				return
			}
			if len(got) != 1 || test.want == "" || !strings.HasPrefix(got[0], test.want) {
				t.Errorf("reports %q, want %q", got, test.want)
			}
		})
	}
}

func importing(name, imported string) string {
	return fmt.Sprintf("// Package %s is planted.\npackage %s\n\nimport _ %q\n", name, name, imported)
}
