package repository_test

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/command"
	"github.com/delegraph/delegraph/internal/settings"
)

var (
	fence       = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```$")
	inCode      = regexp.MustCompile("`([^`\n]+)`")
	ourCommand  = regexp.MustCompile(`^(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\./)?(?:go run \./cmd/)?delegraph ((?:serve|gateway|replay|check|demo)\b.*)$`)
	makeCommand = regexp.MustCompile(`\bmake ([a-z][a-z-]*(?: [a-z][a-z-]*)*)`)
	link        = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading     = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noAnchor    = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	goTest      = regexp.MustCompile(`go test \./([a-z0-9/]+)(?: [^\s&]\S*)*? -run '?\^?(Test[A-Za-z0-9|\\$]+)`)
)

// documents returns the pages for users and contributors by path.
func documents(t *testing.T) map[string]string {
	t.Helper()
	root := os.DirFS("../..")
	pages := map[string]string{}
	read := func(file string) error {
		content, err := fs.ReadFile(root, file)
		pages[file] = string(content)
		return err
	}
	for _, file := range []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "helm/delegraph/README.md"} {
		if err := read(file); err != nil {
			t.Fatal(err)
		}
	}
	err := fs.WalkDir(root, "docs", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, ".md") {
			return err
		}
		return read(file)
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// TestReadmeCommands requires the two commands that a newcomer needs: one runs the product, one runs its tests.
func TestReadmeCommands(t *testing.T) {
	readme := documents(t)["README.md"]
	for _, command := range []string{"go run ./cmd/delegraph demo", "go test ./..."} {
		if !strings.Contains(readme, command) {
			t.Errorf("README.md does not name %q", command)
		}
	}
}

// TestDocumentedCommands parses each delegraph command line in the documents, and checks that each named make target and test
// exists.
func TestDocumentedCommands(t *testing.T) {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	for file, page := range documents(t) {
		var lines []string
		for _, block := range fence.FindAllStringSubmatch(page, -1) {
			lines = append(lines, strings.Split(block[1], "\n")...)
		}
		for _, span := range inCode.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
			lines = append(lines, span[1])
		}
		for _, line := range lines {
			line = strings.TrimRight(line, " &")
			for _, found := range goTest.FindAllStringSubmatch(line, -1) {
				for name := range strings.SplitSeq(strings.NewReplacer(`\`, "", "$", "").Replace(found[2]), "|") {
					if !hasTestLike(t, "../../"+found[1], name) {
						t.Errorf("%s: %s has no %s", file, found[1], name)
					}
				}
			}
			for _, end := range []string{" #", "   #", " | ", " >", " &&"} {
				line, _, _ = strings.Cut(line, end)
			}
			if found := ourCommand.FindStringSubmatch(strings.TrimSpace(line)); found != nil {
				commands++
				checkCommand(t, file, found[1])
			}
			if found := makeCommand.FindStringSubmatch(line); found != nil {
				for target := range strings.FieldsSeq(found[1]) {
					if !strings.Contains(string(makefile), "\n"+target+":") {
						t.Errorf("%s: the Makefile has no target %q", file, target)
					}
				}
			}
		}
	}
	if commands < 30 {
		t.Errorf("only %d command lines were found", commands)
	}
}

// hasTestLike reports whether -run with a name matches a test of a package.
func hasTestLike(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		content, err := os.ReadFile(file)
		return err == nil && strings.Contains(string(content), "\nfunc "+name)
	})
}

// checkCommand parses a command line without running it. A command that is only named may lack its arguments.
func checkCommand(t *testing.T, file, line string) {
	t.Helper()
	app, _ := command.New(context.Background(), io.Discard, io.Discard)
	app.Terminate(func(int) {})
	if _, err := app.Parse(strings.Fields(line)); err != nil && !strings.Contains(err.Error(), "required argument") {
		t.Errorf("%s: delegraph %s: %v", file, line, err)
	}
}

// TestDocumentedConfigurations validates each whole configuration in the documents.
func TestDocumentedConfigurations(t *testing.T) {
	found := 0
	for file, page := range documents(t) {
		for _, block := range fence.FindAllStringSubmatch(page, -1) {
			if !strings.HasPrefix(block[1], "sources:") && !strings.HasPrefix(block[1], "stream:") {
				continue
			}
			found++
			text := block[1]
			if !strings.Contains(text, "sources:") {
				text += "sources: [{name: a, proxy: {listen: ':8080', upstream: 'http://127.0.0.1:8000'}}]\n"
			}
			if _, err := config.Parse(file, []byte(text), settings.KnownNames()); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
		}
	}
	if found < 12 {
		t.Errorf("only %d configurations were found", found)
	}
}

// TestDocumentedLinks checks that the file and the heading of each relative link exist.
func TestDocumentedLinks(t *testing.T) {
	pages := documents(t)
	for file, page := range pages {
		for _, found := range link.FindAllStringSubmatch(inCode.ReplaceAllString(fence.ReplaceAllString(page, ""), ""), -1) {
			target, ours := strings.CutPrefix(found[1], "https://github.com/delegraph/delegraph/blob/main/")
			if strings.Contains(target, "://") {
				continue
			}
			name, anchor, _ := strings.Cut(target, "#")
			switch {
			case name == "":
				name = file
			case !ours:
				name = path.Join(path.Dir(file), name)
			}
			if _, err := os.Stat(filepath.Join("../..", name)); err != nil {
				t.Errorf("%s: there is no %s", file, target)
			} else if anchor != "" && !slices.Contains(anchors(pages[name]), anchor) {
				t.Errorf("%s: %s has no heading of that name", file, target)
			}
		}
	}
}

// anchors returns the names by which GitHub links to the headings of a page.
func anchors(page string) (names []string) {
	for _, found := range heading.FindAllStringSubmatch(fence.ReplaceAllString(page, ""), -1) {
		names = append(names, strings.ReplaceAll(noAnchor.ReplaceAllString(strings.ToLower(found[1]), ""), " ", "-"))
	}
	return names
}
