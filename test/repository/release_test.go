package repository_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestReleaseFiles checks that the GoReleaser file, the Dockerfile, the chart and the release script agree.
func TestReleaseFiles(t *testing.T) {
	var g struct {
		Builds   []struct{ Goos, Goarch []string }
		Checksum struct {
			Name string `yaml:"name_template"`
		}
		Images []struct {
			Images, Platforms []string
			Dockerfile        string
		} `yaml:"dockers_v2"`
	}
	if err := yaml.Unmarshal([]byte(repositoryFile(t, ".goreleaser.yaml")), &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Builds) != 1 || len(g.Images) != 1 {
		t.Fatalf("%d builds and %d images; want one of each", len(g.Builds), len(g.Images))
	}
	for _, platform := range g.Images[0].Platforms {
		system, architecture, _ := strings.Cut(platform, "/")
		if !slices.Contains(g.Builds[0].Goos, system) || !slices.Contains(g.Builds[0].Goarch, architecture) {
			t.Errorf("the image is for %s, which is not built", platform)
		}
	}
	repositoryFile(t, g.Images[0].Dockerfile)
	var chart struct {
		Version     string
		AppVersion  string `yaml:"appVersion"`
		Annotations map[string]string
	}
	if err := yaml.Unmarshal([]byte(repositoryFile(t, "helm/delegraph/Chart.yaml")), &chart); err != nil {
		t.Fatal(err)
	}
	image := g.Images[0].Images[0]
	if chart.Version != chart.AppVersion || !strings.Contains(chart.Annotations["artifacthub.io/images"], image+":"+chart.AppVersion) {
		t.Errorf("chart %s of version %s does not name %s", chart.Version, chart.AppVersion, image)
	}
	workflow := repositoryFile(t, ".github/workflows/release.yml")
	for _, part := range []string{"subject-name: " + image + "\n", "dist/" + g.Checksum.Name + "\n", ".ci/release publish\n"} {
		if !strings.Contains(workflow, part) {
			t.Errorf("the release workflow has no %q", part)
		}
	}
}

// TestActionsPinned checks that workflows use actions by commit only.
func TestActionsPinned(t *testing.T) {
	pinned := regexp.MustCompile(`^(?:\./\S+|[\w./-]+@[0-9a-f]{40} # v[0-9.]+)$`)
	for _, file := range []string{"ci.yml", "cluster.yml", "slow.yml", "release.yml", "release-dry-run.yml"} {
		for _, use := range regexp.MustCompile(`(?m)uses: (.*)$`).FindAllStringSubmatch(repositoryFile(t, ".github/workflows/"+file), -1) {
			if !pinned.MatchString(use[1]) {
				t.Errorf("%s: %s is not pinned to a commit", file, use[1])
			}
		}
	}
}
