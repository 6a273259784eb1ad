package tests

import (
	"os"
	"path/filepath"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
)

// TestLibrary has another chart include the sidecar, as its own documentation says.
func TestLibrary(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "parent")
	if err := os.CopyFS(dir, os.DirFS("testdata/parent")); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(dir, "charts", "delegraph"), os.DirFS(chart)); err != nil {
		t.Fatal(err)
	}
	if out, problems, err := run(t, tool(t, "helm"), "lint", "--strict", dir); err != nil {
		t.Errorf("%v\n%s%s", err, out, problems)
	}
	rendered := render(t, dir)
	golden(t, "testdata/parent.golden", rendered)
	var deployment apps.Deployment
	strictly(t, only(t, rendered, "Deployment"), &deployment)
	pod := &core.Pod{ObjectMeta: deployment.Spec.Template.ObjectMeta, Spec: deployment.Spec.Template.Spec}
	checkPod(t, pod)
	var test core.Pod
	strictly(t, only(t, rendered, "Pod"), &test)
	same(t, test.Spec.InitContainers[0], pod.Spec.InitContainers[0])
}
