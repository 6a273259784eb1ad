//go:build linux

package cluster

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// natsTemplate is the pod of server N of three, which find each other by the addresses of their Services.
const natsTemplate = `
metadata: {labels: {app: nats-N}}
spec:
  automountServiceAccountToken: false
  containers:
    - name: nats
      image: ` + natsImage + `
      args: [--jetstream, --store_dir, /data, --name, nats-N, --cluster_name, nats, --cluster, "nats://0.0.0.0:6222", --routes, "nats://10.96.0.21:6222,nats://10.96.0.22:6222,nats://10.96.0.23:6222", --http_port, "8222"]
      readinessProbe: {httpGet: {path: /healthz, port: 8222}, periodSeconds: 1}
      volumeMounts: [{name: data, mountPath: /data}]
      securityContext: {runAsNonRoot: true, runAsUser: 65532, allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}, seccompProfile: {type: RuntimeDefault}}
  volumes: [{name: data, emptyDir: {}}]
`

const (
	natsServers = `["nats://10.96.0.21:4222", "nats://10.96.0.22:4222", "nats://10.96.0.23:4222"]`

	publishing = `stream: {listen: "", store: jetstream, jetstream: {urls: ` + natsServers + `, replicas: 3}}`

	gatewayValues = imageValues + `
mode: gateway
config: {stream: {listen: ":10478", store: jetstream, jetstream: {urls: ` + natsServers + `}, authentication: {anonymous: anywhere}}}
gateway: {podLabels: {app: gateway}, REPLICAS}
networkPolicy: {enabled: true, egress: [{ports: [{port: 4222}]}]}
`
)

// fleet starts three NATS servers, and one agent whose sidecar publishes to them.
func fleet(t *testing.T, space string) (agent *core.Pod) {
	t.Helper()
	for n := 1; n <= 3; n++ {
		name := fmt.Sprintf("nats-%d", n)
		deployment := object[apps.Deployment](t, "spec:\n  selector: {matchLabels: {app: "+name+"}}\n  template:\n"+indent(strings.ReplaceAll(natsTemplate, "nats-N", name)))
		deployment.Name = name
		if _, err := cluster.AppsV1().Deployments(space).Create(t.Context(), deployment, meta.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		service(t, space, name, fmt.Sprintf("10.96.0.2%d", n), 4222, 6222)
	}
	for n := 1; n <= 3; n++ {
		ready(t, space, fmt.Sprintf("nats-%d", n), "")
	}
	injecting(t, space, "agents", publishing)
	return deploy(t, space, "agent")
}

var text = regexp.MustCompile(`"text":"f-([0-9]+)"`)

// reader follows the external stream through a Service, and comes back with its last ID as a browser does.
type reader struct {
	mu    sync.Mutex
	came  int
	next  int // number of the next frame
	wrong []string
}

func (r *reader) follow(ctx context.Context, address string) {
	last := ""
	for ctx.Err() == nil {
		last = r.connect(ctx, address, last)
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond): // a refused connection is tried again, not at once
		}
	}
}

// connect reads one connection to its end and returns the last ID.
func (r *reader) connect(ctx context.Context, address, last string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/events", nil)
	if err != nil {
		return last
	}
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // each connection finds a pod of its own
	resp, err := client.Do(request)
	if err != nil {
		return last
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return last
	}
	r.mu.Lock()
	r.came++
	r.mu.Unlock()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		line := lines.Text()
		if id, is := strings.CutPrefix(line, "id: "); is {
			last = id
		}
		r.take(line)
	}
	return last
}

// take checks a line: a gap is wrong, and a frame must be the next one.
func (r *reader) take(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if strings.HasPrefix(line, "event: delegraph.gap") {
		r.wrong = append(r.wrong, line)
	}
	if found := text.FindStringSubmatch(line); found != nil {
		if n, _ := strconv.Atoi(found[1]); n != r.next {
			r.wrong = append(r.wrong, fmt.Sprintf("frame %d where %d comes next", n, r.next))
		}
		r.next++
	}
}

func (r *reader) state() (came, next int, wrong []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.came, r.next, r.wrong
}

// TestGateways restarts three gateways one after the other while six readers follow the stream that a sidecar publishes to three NATS
// servers. No reader misses a frame or gets one twice.
func TestGateways(t *testing.T) {
	needsNode(t)
	const space = "gateways"
	namespace(t, space)
	agent := fleet(t, space)
	helm(t, space, "stream", chart, strings.ReplaceAll(gatewayValues, "REPLICAS", "replicas: 3"))
	rolledOut(t, space, "stream-delegraph", 3, 1)
	if _, err := cluster.NetworkingV1().NetworkPolicies(space).Get(t.Context(), "stream-delegraph", meta.GetOptions{}); err != nil {
		t.Error(err)
	}
	t.Log("the API server accepted the NetworkPolicy; nothing enforces it here, because the node's network has no plugin for policies")

	front := addressOf(t, space, "stream-delegraph")
	ctx, stop := context.WithCancel(t.Context())
	var following sync.WaitGroup
	defer following.Wait()
	defer stop()
	readers := make([]*reader, 6)
	for i := range readers {
		readers[i] = &reader{}
		following.Go(func() { readers[i].follow(ctx, front) })
	}
	eventually(t, "all readers to be connected", func(context.Context) error {
		for _, r := range readers {
			if came, _, _ := r.state(); came == 0 {
				return errors.New("one is not")
			}
		}
		return nil
	})
	client := open(t, agent.Status.PodIP+":8080")
	said := 0
	say := func() {
		order(t, agent, "/say", fmt.Sprintf(`data: {"author":"coordinator","invocationId":"e-1","content":{"role":"model","parts":[{"text":"f-%d"}]},"partial":true}`+"\n\n", said))
		client.frame()
		said++
	}
	say()
	patch := `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"now"}}}}}`
	if _, err := cluster.AppsV1().Deployments(space).Patch(t.Context(), "stream-delegraph", types.StrategicMergePatchType, []byte(patch), meta.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the rolling restart", func(ctx context.Context) error {
		say()
		return complete(ctx, space, "stream-delegraph", 3, 2)
	})
	for range 10 {
		say()
	}
	for _, r := range readers {
		eventually(t, "all frames", func(context.Context) error {
			came, next, wrong := r.state()
			if len(wrong) > 0 {
				t.Fatalf("a reader got %q", wrong)
			}
			if next < said {
				return fmt.Errorf("a reader has %d of %d after %d connections", next, said, came)
			}
			return nil
		})
		came, next, _ := r.state()
		if came < 2 {
			t.Error("the restart did not disconnect a reader")
		}
		t.Logf("a reader connected %d times and got %d frames of %d, each once", came, next, said)
	}
}

// rolledOut waits until a Deployment runs only pods of a generation.
func rolledOut(t *testing.T, space, name string, replicas int32, generation int64) {
	t.Helper()
	eventually(t, "the rollout of "+name, func(ctx context.Context) error { return complete(ctx, space, name, replicas, generation) })
}

func complete(ctx context.Context, space, name string, replicas int32, generation int64) error {
	found, err := cluster.AppsV1().Deployments(space).Get(ctx, name, meta.GetOptions{})
	if err != nil {
		return err
	}
	pods, err := cluster.CoreV1().Pods(space).List(ctx, meta.ListOptions{LabelSelector: "app=gateway"})
	if err != nil {
		return err
	}
	s := found.Status
	if s.ObservedGeneration < generation || s.UpdatedReplicas != replicas || s.AvailableReplicas != replicas || s.Replicas != replicas || len(pods.Items) != int(replicas) {
		return fmt.Errorf("%d of %d pods are new and %d available; %d exist", s.UpdatedReplicas, replicas, s.AvailableReplicas, len(pods.Items))
	}
	return nil
}
