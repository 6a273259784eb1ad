//go:build linux

package cluster

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const chart = "../../delegraph"

// patience bounds every wait of a test.
const patience = 3 * time.Minute

// needsNode skips a test if there is no node.
func needsNode(t *testing.T) {
	t.Helper()
	if cluster == nil {
		t.Skip("it needs a node of Kubernetes: make cluster")
	}
}

// eventually repeats an attempt until it succeeds.
func eventually(t *testing.T, what string, attempt func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		err := attempt(ctx)
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("waited for %s: %v", what, err)
		case <-again.C:
		}
	}
}

// object returns an object from YAML.
func object[T any](t *testing.T, text string) *T {
	t.Helper()
	var made T
	if err := yaml.UnmarshalStrict([]byte(text), &made); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return &made
}

// namespace creates a namespace that enforces the restricted pod security standard.
func namespace(t *testing.T, name string) {
	t.Helper()
	made := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: name, Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"}}}
	if _, err := cluster.CoreV1().Namespaces().Create(t.Context(), made, meta.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cluster.CoreV1().Namespaces().Delete(context.Background(), name, meta.DeleteOptions{})
		if t.Failed() {
			events, _ := cluster.CoreV1().Events(name).List(context.Background(), meta.ListOptions{})
			for _, event := range events.Items {
				t.Logf("%s %s: %s", event.InvolvedObject.Kind, event.InvolvedObject.Name, event.Message)
			}
		}
	})
}

// helm installs or upgrades a release of the chart in a folder. The end of the test removes the release.
func helm(t *testing.T, space, release, folder, values string, args ...string) {
	t.Helper()
	program, err := tool("helm", "helm")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "values.yaml")
	if err := os.WriteFile(file, []byte(values), 0o600); err != nil {
		t.Fatal(err)
	}
	args = append([]string{"upgrade", "--install", release, folder, "--namespace", space, "--kubeconfig", kubeconfig, "--values", file}, args...)
	if _, err := command("", nil, program, args...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = command("", nil, program, "uninstall", release, "--namespace", space, "--kubeconfig", kubeconfig, "--ignore-not-found")
	})
}

// imageValues are the values that name the image of the test.
const imageValues = "image: {repository: " + delegraphImage + ", tag: " + imageTag + "}\n"

// ready waits until a pod of an app is ready and not being deleted, and returns it. It ignores the pod that other names.
func ready(t *testing.T, space, app, other string) (found *core.Pod) {
	t.Helper()
	eventually(t, "a ready pod of "+app, func(ctx context.Context) error {
		pods, err := cluster.CoreV1().Pods(space).List(ctx, meta.ListOptions{LabelSelector: "app=" + app})
		if err != nil {
			return err
		}
		for _, pod := range pods.Items {
			if pod.Name != other && pod.DeletionTimestamp == nil && isReady(&pod) {
				found = &pod
				return nil
			}
		}
		return fmt.Errorf("of %d pods none is ready", len(pods.Items))
	})
	return found
}

func isReady(pod *core.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == core.PodReady {
			return condition.Status == core.ConditionTrue
		}
	}
	return false
}

// restarts returns how often the containers of a pod were restarted.
func restarts(t *testing.T, space, name string) map[string]int32 {
	t.Helper()
	pod, err := cluster.CoreV1().Pods(space).Get(t.Context(), name, meta.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int32{}
	for _, status := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		counts[status.Name] = status.RestartCount
	}
	return counts
}

// call returns the body of an answer with the status 200.
func call(ctx context.Context, method, address, body string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, text)
	}
	return string(text), err
}

// order tells an agent what to do.
func order(t *testing.T, pod *core.Pod, path, body string) {
	t.Helper()
	if _, err := call(t.Context(), http.MethodPost, "http://"+pod.Status.PodIP+":9000"+path, body); err != nil {
		t.Fatal(err)
	}
}

// metrics returns the lines of a pod's metrics that begin with a name.
func metrics(t *testing.T, pod *core.Pod, name string) []string {
	t.Helper()
	text, err := call(t.Context(), http.MethodGet, "http://"+pod.Status.PodIP+":10477/metrics", "")
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, name) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// stream is one that a client reads.
type stream struct {
	t    *testing.T
	resp *http.Response
	read *bufio.Reader
	got  bytes.Buffer
}

// open starts a run of an agent through its sidecar.
func open(t *testing.T, address string) *stream {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/run_sse", strings.NewReader(`{"sessionId":"s-1","userId":"u-1","appName":"app"}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the stream begins with %s", resp.Status)
	}
	return &stream{t: t, resp: resp, read: bufio.NewReader(resp.Body)}
}

// frame reads one frame.
func (s *stream) frame() {
	s.t.Helper()
	for {
		line, err := s.read.ReadString('\n')
		s.got.WriteString(line)
		if err != nil {
			s.t.Fatalf("the stream broke: %v, after %q", err, s.got.String())
		}
		if line == "\n" {
			return
		}
	}
}

// rest reads to the end of the stream and returns all that was read.
func (s *stream) rest() (string, error) {
	_, err := io.Copy(&s.got, s.read)
	return s.got.String(), err
}
