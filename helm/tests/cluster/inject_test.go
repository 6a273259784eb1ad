//go:build linux

package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Frames of one ADK run.
const (
	callFrame     = `data: {"author":"coordinator","invocationId":"e-1","content":{"role":"model","parts":[{"functionCall":{"id":"c-1","name":"survey","args":{}}}]},"finishReason":"STOP","modelVersion":"m-1"}` + "\n\n"
	responseFrame = `data: {"author":"coordinator","invocationId":"e-1","content":{"role":"user","parts":[{"functionResponse":{"id":"c-1","name":"survey","response":{"ok":true}}}]}}` + "\n\n"
	finalFrame    = `data: {"author":"coordinator","invocationId":"e-1","content":{"role":"model","parts":[{"text":"done"}]},"finishReason":"STOP","modelVersion":"m-2"}` + "\n\n"
	wholeRun      = callFrame + responseFrame + finalFrame
)

// template is the pod template of an agent with the label that injects a release's sidecar. NAME is the agent's name, ARGS are its
// arguments, and EXTRA is an annotation.
const template = `
metadata: {labels: {app: NAME, delegraph.dev/inject: "true"}, annotations: {EXTRA}}
spec:
  terminationGracePeriodSeconds: 90
  automountServiceAccountToken: false
  containers:
    - name: agent
      image: ` + agentImage + `
      args: [ARGS]
      securityContext: {runAsNonRoot: true, runAsUser: 65532, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}
`

// probed is a readiness probe that reaches the agent through the sidecar.
const probed = "      readinessProbe: {httpGet: {path: /healthz, port: 8080}, periodSeconds: 1}\n"

const injectValues = imageValues + `
mode: inject
config: {sources: [{name: SOURCE, proxy: {listen: ":8080", upstream: "http://127.0.0.1:8000"}}], MORE}
inject: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: SPACE}}}
`

func templateOf(name, args, extra, more string) string {
	return strings.NewReplacer("NAME", name, "ARGS", args, "EXTRA", extra).Replace(template) + more
}

func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

// injecting installs a release that injects the pods of a namespace, and waits until the API server applies it. more is added to the
// configuration.
func injecting(t *testing.T, space, source, more string) {
	t.Helper()
	helm(t, space, "watch", chart, strings.NewReplacer("SOURCE", source, "SPACE", space, "MORE", more).Replace(injectValues))
	pod := object[core.Pod](t, templateOf("probe", "pause", "", ""))
	pod.Name = "probe"
	eventually(t, "the policy to inject", func(ctx context.Context) error {
		made, err := cluster.CoreV1().Pods(space).Create(ctx, pod, meta.CreateOptions{DryRun: []string{meta.DryRunAll}})
		if err == nil && !strings.Contains(made.Annotations["delegraph.dev/config"], source) {
			err = errors.New("it does not yet")
		}
		return err
	})
}

// deploy creates a Deployment of one agent and returns its pod.
func deploy(t *testing.T, space, name string) *core.Pod {
	t.Helper()
	deployment := object[apps.Deployment](t, "spec:\n  selector: {matchLabels: {app: "+name+"}}\n  template:\n"+indent(templateOf(name, "serve", "", probed)))
	deployment.Name = name
	if _, err := cluster.AppsV1().Deployments(space).Create(t.Context(), deployment, meta.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return ready(t, space, name, "")
}

// sidecarOf returns the injected container of a pod.
func sidecarOf(t *testing.T, pod *core.Pod) core.Container {
	t.Helper()
	last := len(pod.Spec.InitContainers) - 1
	if last < 0 || pod.Spec.InitContainers[last].Name != "delegraph" {
		t.Fatalf("pod %s has no sidecar", pod.Name)
	}
	return pod.Spec.InitContainers[last]
}

// TestInjectedWorkloads runs a Deployment, a StatefulSet and a Job with injected sidecars under the restricted standard.
func TestInjectedWorkloads(t *testing.T) {
	needsNode(t)
	const space = "workloads"
	namespace(t, space)
	injecting(t, space, "agents", "")
	pods := map[string]*core.Pod{"of-deployment": deploy(t, space, "of-deployment")}
	set := object[apps.StatefulSet](t, "spec:\n  serviceName: none\n  selector: {matchLabels: {app: of-set}}\n  template:\n"+indent(templateOf("of-set", "serve", "", probed)))
	set.Name = "of-set"
	if _, err := cluster.AppsV1().StatefulSets(space).Create(t.Context(), set, meta.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	pods["of-set"] = ready(t, space, "of-set", "")
	for name, pod := range pods {
		t.Run(name, func(t *testing.T) {
			for _, variable := range sidecarOf(t, pod).Env {
				if variable.Name == "OTEL_SERVICE_NAME" && variable.Value != name {
					t.Errorf("service name %q", variable.Value)
				}
			}
			order(t, pod, "/say", wholeRun)
			client := open(t, pod.Status.PodIP+":8080")
			for range 3 {
				client.frame()
			}
			order(t, pod, "/over", "")
			if got, err := client.rest(); err != nil || got != wholeRun {
				t.Errorf("the client got %q, %v", got, err)
			}
			if runs := metrics(t, pod, "delegraph_runs_started_total"); !slices.Equal(runs, []string{`delegraph_runs_started_total{source="agents"} 1`}) {
				t.Errorf("metrics %q", runs)
			}
			t.Logf("injected, ready, and one run is counted: %v", metrics(t, pod, "delegraph_runs_ended_total"))
		})
	}
	t.Run("of-job", func(t *testing.T) {
		job := object[batch.Job](t, "spec:\n  backoffLimit: 0\n  template:\n"+indent(templateOf("of-job", "job", "", "  restartPolicy: Never\n")))
		job.Name = "of-job"
		if _, err := cluster.BatchV1().Jobs(space).Create(t.Context(), job, meta.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the job to end", func(ctx context.Context) error {
			ended, err := cluster.BatchV1().Jobs(space).Get(ctx, job.Name, meta.GetOptions{})
			if err == nil && ended.Status.Succeeded+ended.Status.Failed == 0 {
				err = errors.New("it runs")
			} else if err == nil && ended.Status.Failed > 0 {
				t.Fatal("the job failed")
			}
			return err
		})
		found, err := cluster.CoreV1().Pods(space).List(t.Context(), meta.ListOptions{LabelSelector: "app=of-job"})
		if err != nil || len(found.Items) != 1 {
			t.Fatalf("%d pods, %v", len(found.Items), err)
		}
		sidecarOf(t, &found.Items[0])
		t.Log("the job's stream passed the sidecar, and the sidecar does not hold up its end")
	})
}

// TestDrain evicts a pod in the middle of a stream, as kubectl drain does. The client gets all of the stream.
func TestDrain(t *testing.T) {
	needsNode(t)
	const space = "drain"
	namespace(t, space)
	injecting(t, space, "agents", "")
	for name, remove := range map[string]func(*core.Pod) error{
		"eviction": func(pod *core.Pod) error {
			return cluster.PolicyV1().Evictions(space).Evict(t.Context(), &policy.Eviction{ObjectMeta: meta.ObjectMeta{Name: pod.Name, Namespace: space}})
		},
		"deletion": func(pod *core.Pod) error {
			return cluster.CoreV1().Pods(space).Delete(t.Context(), pod.Name, meta.DeleteOptions{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := deploy(t, space, name)
			client := halfway(t, pod)
			if err := remove(pod); err != nil {
				t.Fatal(err)
			}
			finish(t, pod, client)
			eventually(t, "the pod to be gone", func(ctx context.Context) error {
				_, err := cluster.CoreV1().Pods(space).Get(ctx, pod.Name, meta.GetOptions{})
				if err == nil {
					return errors.New("it is there")
				}
				return nil
			})
		})
	}
}

// halfway opens a stream and reads its first frame.
func halfway(t *testing.T, pod *core.Pod) *stream {
	t.Helper()
	order(t, pod, "/say", callFrame)
	client := open(t, pod.Status.PodIP+":8080")
	client.frame()
	return client
}

// finish waits until an agent was told to stop, lets it finish its stream, and checks that the client has all of it.
func finish(t *testing.T, pod *core.Pod, client *stream) {
	t.Helper()
	eventually(t, "SIGTERM at the agent", func(ctx context.Context) error {
		stopped, err := call(ctx, http.MethodGet, "http://"+pod.Status.PodIP+":9000/stopped", "")
		if err == nil && stopped != "true" {
			err = errors.New("none yet")
		}
		return err
	})
	order(t, pod, "/say", responseFrame+finalFrame)
	client.frame()
	client.frame()
	order(t, pod, "/over", "")
	got, err := client.rest()
	if err != nil || got != wholeRun {
		t.Errorf("the client got %q, %v", got, err)
	}
	t.Logf("after SIGTERM the client got the other %d of %d bytes, and a proper end", len(got)-len(callFrame), len(got))
}

// TestCrashes kills the sidecar and the agent. Each is restarted alone.
func TestCrashes(t *testing.T) {
	needsNode(t)
	const space = "crashes"
	namespace(t, space)
	injecting(t, space, "agents", "")
	pod := deploy(t, space, "crashing")
	t.Run("sidecar", func(t *testing.T) {
		client := halfway(t, pod)
		kill(t, pod, "delegraph")
		if got, err := client.rest(); err == nil {
			t.Errorf("the client got a proper end after %q", got)
		}
		restarted(t, pod, map[string]int32{"delegraph": 1, "agent": 0})
	})
	t.Run("agent", func(t *testing.T) {
		client := halfway(t, pod)
		_, _ = call(t.Context(), http.MethodPost, "http://"+pod.Status.PodIP+":9000/crash", "") // the answer is lost
		if got, err := client.rest(); err == nil {
			t.Errorf("the client got a proper end after %q", got)
		}
		restarted(t, pod, map[string]int32{"delegraph": 1, "agent": 1})
		t.Logf("runs of the sidecar, which has seen the crash: %v", metrics(t, pod, "delegraph_runs_ended_total"))
	})
}

// restarted waits until a pod is ready with counts of restarts, and reads a whole stream from it.
func restarted(t *testing.T, pod *core.Pod, want map[string]int32) {
	t.Helper()
	eventually(t, "the restart", func(ctx context.Context) error {
		now, err := cluster.CoreV1().Pods(pod.Namespace).Get(ctx, pod.Name, meta.GetOptions{})
		if got := restarts(t, pod.Namespace, pod.Name); err == nil && (!maps.Equal(got, want) || !isReady(now)) {
			err = fmt.Errorf("restarts %v, ready %v", got, isReady(now))
		}
		return err
	})
	order(t, pod, "/over", "")
	order(t, pod, "/say", wholeRun)
	client := open(t, pod.Status.PodIP+":8080")
	for range 3 {
		client.frame()
	}
	order(t, pod, "/over", "")
	if got, err := client.rest(); err != nil || got != wholeRun {
		t.Errorf("after the restart the client got %q, %v", got, err)
	}
	if got := restarts(t, pod.Namespace, pod.Name); !maps.Equal(got, want) {
		t.Errorf("restarts %v, want %v", got, want)
	}
	t.Logf("restarts %v, and the next stream is whole", want)
}

// kill sends SIGKILL to the processes of a container, which are visible from the node.
func kill(t *testing.T, pod *core.Pod, container string) {
	t.Helper()
	var id string
	for _, status := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		if status.Name == container {
			id = strings.TrimPrefix(status.ContainerID, "containerd://")
		}
	}
	files, err := filepath.Glob("/proc/[0-9]*/cgroup")
	if err != nil || id == "" {
		t.Fatalf("container %s has the ID %q, %v", container, id, err)
	}
	killed := 0
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), id) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			killed++
		}
	}
	if killed != 1 {
		t.Fatalf("%d processes of %s", killed, container)
	}
}

// TestRollout changes the configuration and restarts the Deployment in the middle of a stream.
func TestRollout(t *testing.T) {
	needsNode(t)
	const space = "rollout"
	namespace(t, space)
	injecting(t, space, "before", "")
	old := deploy(t, space, "rolling")
	client := halfway(t, old)
	injecting(t, space, "after", "")
	patch := `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"now"}}}}}` // as kubectl rollout restart
	if _, err := cluster.AppsV1().Deployments(space).Patch(t.Context(), "rolling", types.StrategicMergePatchType, []byte(patch), meta.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	fresh := ready(t, space, "rolling", old.Name)
	finish(t, old, client)
	order(t, fresh, "/say", wholeRun)
	another := open(t, fresh.Status.PodIP+":8080")
	another.frame()
	if runs := metrics(t, fresh, "delegraph_runs_started_total"); !slices.Equal(runs, []string{`delegraph_runs_started_total{source="after"} 1`}) {
		t.Errorf("metrics of the new pod: %q", runs)
	}
}

// TestRefused checks the messages with which the policy refuses pods that cannot take the sidecar.
func TestRefused(t *testing.T) {
	needsNode(t)
	const space = "refused"
	namespace(t, space)
	injecting(t, space, "agents", "")
	for name, c := range map[string]struct{ extra, more, want string }{
		"annotation": {`delegraph.dev/log-level: loud`, "", "annotation delegraph.dev/log-level: it must be debug, info, warn or error"},
		"port":       {"", "      ports: [{containerPort: 8080}]\n", "container agent: port 8080 belongs to the sidecar: let it use another port, such as 127.0.0.1:8000 for the agent"},
	} {
		t.Run(name, func(t *testing.T) {
			text := templateOf(name, "serve", c.extra, c.more)
			pod := object[core.Pod](t, text)
			pod.Name = name
			eventually(t, "the policy to refuse", func(ctx context.Context) error { // the server reads a new policy some time after it was made
				if _, err := cluster.CoreV1().Pods(space).Create(ctx, pod, meta.CreateOptions{DryRun: []string{meta.DryRunAll}}); err != nil {
					return nil
				}
				return errors.New("it does not")
			})
			_, err := cluster.CoreV1().Pods(space).Create(t.Context(), pod, meta.CreateOptions{})
			if err == nil || !strings.Contains(err.Error(), "ValidatingAdmissionPolicy") || !strings.Contains(err.Error(), "the Delegraph sidecar cannot be injected: "+c.want) {
				t.Fatalf("refused with %v; want %q", err, c.want)
			}
			t.Log(err)
			deployment := object[apps.Deployment](t, "spec:\n  selector: {matchLabels: {app: "+name+"}}\n  template:\n"+indent(text))
			deployment.Name = name
			if _, err := cluster.AppsV1().Deployments(space).Create(t.Context(), deployment, meta.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the Deployment to say why", func(ctx context.Context) error {
				found, err := cluster.AppsV1().Deployments(space).Get(ctx, name, meta.GetOptions{})
				for _, condition := range found.Status.Conditions {
					if condition.Type == apps.DeploymentReplicaFailure && strings.Contains(condition.Message, c.want) {
						return nil
					}
				}
				return errors.Join(err, fmt.Errorf("conditions %v", found.Status.Conditions))
			})
		})
	}
}
