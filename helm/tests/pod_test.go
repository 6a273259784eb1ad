package tests

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

func same(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// checkPod checks what a cluster and its users expect of a pod with the sidecar.
func checkPod(t *testing.T, pod *core.Pod) {
	t.Helper()
	last := len(pod.Spec.InitContainers) - 1
	if last < 0 || pod.Spec.InitContainers[last].Name != "delegraph" {
		t.Fatal("the sidecar is not the last of the initContainers")
	}
	sidecar := pod.Spec.InitContainers[last]
	if sidecar.RestartPolicy == nil || *sidecar.RestartPolicy != core.ContainerRestartPolicyAlways {
		t.Error("the sidecar is an ordinary init container: it does not restart")
	}
	checkNames(t, pod, sidecar)
	checkProbes(t, sidecar)
	checkRestricted(t, &core.PodSpec{Containers: []core.Container{sidecar}, Volumes: pod.Spec.Volumes}) // the rest of the pod belongs to the agent
	if !hasMount(sidecar, "/var/run/secrets/kubernetes.io/serviceaccount") {
		t.Error("the agent's token would be mounted")
	}
	if want := *sidecar.SecurityContext; !*want.RunAsNonRoot || *want.RunAsUser == 0 || !*want.ReadOnlyRootFilesystem {
		t.Errorf("security context %v", want)
	}
}

// checkNames checks that names are unique and that references exist.
func checkNames(t *testing.T, pod *core.Pod, sidecar core.Container) {
	t.Helper()
	volumes := sets.New[string]()
	for _, volume := range pod.Spec.Volumes {
		if volumes.Has(volume.Name) {
			t.Errorf("two volumes %s", volume.Name)
		}
		volumes.Insert(volume.Name)
	}
	for _, mount := range sidecar.VolumeMounts {
		if !volumes.Has(mount.Name) {
			t.Errorf("no volume %s", mount.Name)
		}
	}
	containers, env, ports := sets.New[string](), sets.New[string](), sets.New[string]()
	for _, container := range append(append([]core.Container{}, pod.Spec.InitContainers...), pod.Spec.Containers...) {
		if containers.Has(container.Name) {
			t.Errorf("two containers %s", container.Name)
		}
		containers.Insert(container.Name)
		for _, port := range container.Ports {
			if ports.Has(port.Name) || len(port.Name) > 15 {
				t.Errorf("two ports %s, or a long name", port.Name)
			}
			ports.Insert(port.Name)
		}
	}
	for _, variable := range sidecar.Env {
		if env.Has(variable.Name) {
			t.Errorf("two variables %s", variable.Name)
		}
		env.Insert(variable.Name)
	}
}

// checkProbes checks that no probe waits for the agent, which starts only after they succeed.
func checkProbes(t *testing.T, sidecar core.Container) {
	t.Helper()
	for name, probe := range map[string]*core.Probe{"startup": sidecar.StartupProbe, "readiness": sidecar.ReadinessProbe, "liveness": sidecar.LivenessProbe} {
		if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Port.StrVal != "delegraph-admin" {
			t.Errorf("%s probe %v", name, probe)
		}
	}
}

// checkRestricted checks the restricted pod security standard with Kubernetes' admission code.
func checkRestricted(t *testing.T, spec *core.PodSpec) {
	t.Helper()
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	for _, result := range evaluator.EvaluatePod(level, &meta.ObjectMeta{}, spec) {
		if !result.Allowed {
			t.Errorf("restricted: %s: %s", result.ForbiddenReason, result.ForbiddenDetail)
		}
	}
}

// TestOwnPods checks that the chart's own pods meet the restricted standard and have no service account token.
func TestOwnPods(t *testing.T) {
	for name, file := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) {
			var pods []core.PodSpec
			for _, m := range manifests(t, render(t, chart, "--values", file)) {
				switch m.kind {
				case "Deployment":
					var object apps.Deployment
					strictly(t, m.text, &object)
					pods = append(pods, object.Spec.Template.Spec)
				case "Pod":
					var object core.Pod
					strictly(t, m.text, &object)
					pods = append(pods, object.Spec)
				}
			}
			for _, pod := range pods {
				checkRestricted(t, &pod)
				if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
					t.Errorf("a token is mounted into %v", pod)
				}
			}
			if len(pods) == 0 && name != "inject" { // whose policy is for other pods
				t.Error("no pod")
			}
		})
	}
}

func hasMount(container core.Container, path string) bool {
	for _, mount := range container.VolumeMounts {
		if mount.MountPath == path {
			return true
		}
	}
	return false
}
