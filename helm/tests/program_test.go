package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	admissionregistration "k8s.io/api/admissionregistration/v1"
	core "k8s.io/api/core/v1"
)

// linked is the linker flags of a release, up to the version.
const linked = "-s -w -X github.com/delegraph/delegraph/internal/build.linked="

// build builds Delegraph with the flags of a release.
func build(t *testing.T, file, platform, version string) {
	t.Helper()
	system, architecture, _ := strings.Cut(platform, "/") // both empty for this machine
	command := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-ldflags", linked+version, "-o", file, "./cmd/delegraph")
	command.Dir = "../.."
	command.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOOS="+system, "GOARCH="+architecture)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}

// TestCheck runs `delegraph check` on the configuration of each example.
func TestCheck(t *testing.T) {
	program := filepath.Join(t.TempDir(), "delegraph")
	build(t, program, "/", "dev")
	for name, file := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) {
			config := configuration(t, render(t, chart, "--values", file))
			written := filepath.Join(t.TempDir(), "delegraph.yml")
			write(t, written, config)
			if out, problems, err := run(t, program, "check", "--config.file="+written); err != nil {
				t.Errorf("%v\n%s%s\n%s", err, out, problems, config)
			}
		})
	}
}

// TestRelease checks that the release configuration uses the same linker flags, and the Dockerfile's arguments.
func TestRelease(t *testing.T) {
	text, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var release struct {
		Builds []struct {
			Main    string
			Env     []string
			Flags   []string
			Ldflags []string
		}
		Dockers []struct {
			Dockerfile string
			Platforms  []string
			Arguments  map[string]string `json:"build_args"`
		} `json:"dockers_v2"`
	}
	strictlyEnough(t, string(text), &release)
	if len(release.Builds) != 1 || len(release.Dockers) != 1 {
		t.Fatalf("%d builds, %d images", len(release.Builds), len(release.Dockers))
	}
	built, image := release.Builds[0], release.Dockers[0]
	same(t, []string{"./cmd/delegraph", "CGO_ENABLED=0", "-trimpath", linked + "{{ .Version }}"}, slices.Concat([]string{built.Main}, built.Env, built.Flags, built.Ldflags))
	same(t, []string{"linux/amd64", "linux/arm64"}, image.Platforms)
	dockerfile, err := os.ReadFile(filepath.Join("../..", image.Dockerfile))
	if err != nil {
		t.Fatal(err)
	}
	for name := range image.Arguments {
		if !strings.Contains(string(dockerfile), "\nARG "+name+"=") {
			t.Errorf("the Dockerfile has no argument %s", name)
		}
	}
	program := filepath.Join(t.TempDir(), "delegraph")
	build(t, program, "/", "1.2.3")
	if out, problems, err := run(t, program, "--version"); err != nil || out+problems != "delegraph 1.2.3\n" {
		t.Errorf("%v: %s%s", err, out, problems)
	}
}

// configuration returns Delegraph's configuration file from rendered objects.
func configuration(t *testing.T, rendered string) string {
	t.Helper()
	for _, m := range manifests(t, rendered) {
		switch m.source {
		case "templates/configmap.yaml":
			var object core.ConfigMap
			strictly(t, m.text, &object)
			return object.Data["delegraph.yml"]
		case "templates/policy.yaml":
			var policy admissionregistration.MutatingAdmissionPolicy
			strictly(t, m.text, &policy)
			var config string // a CEL literal, for which JSON's rules suffice
			i := slices.IndexFunc(policy.Spec.Variables, func(v admissionregistration.Variable) bool { return v.Name == "config" })
			strictlyEnough(t, policy.Spec.Variables[i].Expression, &config)
			return config
		}
	}
	t.Fatal("there is no configuration")
	return ""
}
