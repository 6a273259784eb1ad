// Package tests tests the chart and the image: it renders and validates the chart, admits pods, and runs the image that the
// Dockerfile builds. It is a separate module because of its many dependencies.
package tests

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	chart       = "../delegraph"
	clusterAPIs = "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy," + monitoringAPIs // APIs that helm template cannot ask a cluster for

	monitoringAPIs = "monitoring.coreos.com/v1/PodMonitor,monitoring.coreos.com/v1/ServiceMonitor,monitoring.coreos.com/v1/PrometheusRule"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// missing skips the test, or fails it if DELEGRAPH_REQUIRE is set.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("DELEGRAPH_REQUIRE") == "all" {
		t.Fatalf("%s; .ci/install/helm installs it", what)
	}
	t.Skipf("%s; .ci/install/helm installs it", what)
}

// installed returns the folder that .ci/install/helm fills.
func installed(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("DELEGRAPH_HELM"); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(cache, "delegraph", "helm")
}

// tool returns the path of a program.
func tool(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(installed(t), "bin", name)
	if _, err := os.Stat(path); err == nil {
		return path
	}
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, "there is no "+name+" here")
	}
	return path
}

// run returns a program's output and error.
func run(t *testing.T, program string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, problems bytes.Buffer
	command := exec.Command(program, args...) // without the test's context, which has ended during cleanup
	command.Stdout, command.Stderr = &out, &problems
	err = command.Run()
	return out.String(), problems.String(), err
}

// render returns the output of `helm template` for the chart in a folder, for a cluster that has every API.
func render(t *testing.T, folder string, args ...string) string {
	t.Helper()
	args = append([]string{"template", "demo", folder, "--namespace", "agents", "--api-versions", clusterAPIs}, args...)
	out, problems, err := run(t, tool(t, "helm"), args...)
	if err != nil {
		t.Fatalf("helm %s: %v\n%s", strings.Join(args, " "), err, problems)
	}
	return blank.ReplaceAllString(out, "\n$1")
}

// blank matches the blank lines that Helm 4 adds after some documents.
var blank = regexp.MustCompile(`\n+(---\n|$)`)

// valuesFiles returns the chart's example values by name.
func valuesFiles(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(chart, "ci", "*-values.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of values, %v", len(files), err)
	}
	named := map[string]string{}
	for _, file := range files {
		named[strings.TrimSuffix(filepath.Base(file), "-values.yaml")] = file
	}
	return named
}

// golden compares text with a golden file, or writes the file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// manifest is one rendered object.
type manifest struct{ source, kind, text string }

var (
	source = regexp.MustCompile(`(?m)^# Source: delegraph/(\S+)$`)
	kind   = regexp.MustCompile(`(?m)^kind: (\S+)$`)
)

func manifests(t *testing.T, rendered string) (all []manifest) {
	t.Helper()
	for _, text := range strings.Split(rendered, "---\n") {
		from, is := source.FindStringSubmatch(text), kind.FindStringSubmatch(text)
		if is == nil {
			continue
		}
		if from == nil {
			from = []string{"", ""}
		}
		all = append(all, manifest{from[1], is[1], text})
	}
	return all
}

// only returns the text of the one object of a kind.
func only(t *testing.T, rendered, wanted string) string {
	t.Helper()
	var found []string
	for _, m := range manifests(t, rendered) {
		if m.kind == wanted {
			found = append(found, m.text)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d of %s", len(found), wanted)
	}
	return found[0]
}
