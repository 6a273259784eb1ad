package harness

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/delegraph/delegraph/test/component"
)

// ReaderSources is the folder of the readers' scripts and pages, with the versions of their packages.
const ReaderSources = "../harness/testdata/readers"

// ReaderScripts returns a folder with the readers' scripts and the packages that they import.
func ReaderScripts(t testing.TB) string {
	t.Helper()
	installed := os.Getenv("DELEGRAPH_READERS")
	if installed == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		installed = filepath.Join(cache, "delegraph", "readers")
	}
	if _, err := os.Stat(filepath.Join(installed, "installed")); err != nil {
		component.Missing(t, "the readers' npm packages are not in "+installed+": run .ci/install/readers")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(ReaderSources)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(installed, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Program returns the path of a program that .ci/install/INSTALLER installs or requires. Without it the test is skipped.
func Program(t testing.TB, name, installer string) string {
	t.Helper()
	found, err := exec.LookPath(name)
	if err != nil {
		component.Missing(t, fmt.Sprintf("%s is not on the PATH: run .ci/install/%s", name, installer))
	}
	return found
}
