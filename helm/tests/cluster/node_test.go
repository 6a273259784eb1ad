//go:build linux

package cluster

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// The node's network is its own, so addresses and ports are fixed.
const (
	nodeName    = "node1"
	nodeAddress = "10.9.0.1"
	apiAddress  = "https://127.0.0.1:6443"
	token       = "0123456789abcdef" // of the administrator, as whom all programs act
)

var (
	cluster    *kubernetes.Clientset // nil without -cluster
	kubeconfig string
)

// node starts programs and keeps their output in files.
type node struct {
	dir   string
	ended chan error
}

// withNode runs the tests on a node.
func withNode(m *testing.M, dir string) (int, error) {
	kubelet, err := tool("kubernetes", "kubelet")
	if err != nil {
		return 0, err
	}
	if err := os.Setenv("PATH", filepath.Dir(kubelet)+":"+os.Getenv("PATH")+":/usr/sbin"); err != nil { // containerd looks for its shim there
		return 0, err
	}
	n := &node{filepath.Join(dir, "node"), make(chan error, 16)}
	began := time.Now()
	if err := errors.Join(n.writeFiles(dir), n.start(filepath.Join(dir, "images"))); err != nil {
		return 0, errors.Join(err, n.logs())
	}
	fmt.Printf("a node of Kubernetes is ready after %s\n", time.Since(began).Round(time.Second))
	status := m.Run()
	if status != 0 {
		fmt.Fprintln(os.Stderr, n.logs())
	}
	return status, nil
}

// run starts a program that runs until the test ends.
func (n *node) run(name string, args ...string) error {
	log, err := os.Create(filepath.Join(n.dir, name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	c := exec.Command(name, args...)
	c.Stdout, c.Stderr = log, log
	if err := c.Start(); err != nil {
		return err
	}
	go func() { n.ended <- fmt.Errorf("%s has ended: %w", name, c.Wait()) }()
	return nil
}

// logs returns the last lines of each program's output.
func (n *node) logs() error {
	files, _ := filepath.Glob(filepath.Join(n.dir, "*.log"))
	var all strings.Builder
	for _, file := range files {
		text, _ := os.ReadFile(file)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		fmt.Fprintf(&all, "\n== %s\n%s\n", filepath.Base(file), strings.Join(lines[max(0, len(lines)-25):], "\n"))
	}
	return errors.New(all.String())
}

// start starts the programs, each when those that it needs are ready.
func (n *node) start(images string) error {
	file := func(name string) string { return filepath.Join(n.dir, name) }
	if err := errors.Join(
		n.run("etcd", "--data-dir", file("etcd"), "--log-level=error"),
		n.run("containerd", "--config", file("containerd.toml")),
	); err != nil {
		return err
	}
	if err := n.wait("etcd", "http://127.0.0.1:2379/health"); err != nil {
		return err
	}
	if err := n.run("kube-apiserver", "--etcd-servers=http://127.0.0.1:2379", "--bind-address=127.0.0.1", "--advertise-address="+nodeAddress,
		"--cert-dir="+file("certificates"), "--token-auth-file="+file("tokens.csv"), "--authorization-mode=RBAC", "--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=10.96.0.0/16", "--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file="+file("key.pem"),
		"--service-account-signing-key-file="+file("key.pem"), "--kubelet-preferred-address-types=InternalIP", "--enable-aggregator-routing"); err != nil {
		return err
	}
	if err := n.wait("kube-apiserver", apiAddress+"/readyz"); err != nil {
		return err
	}
	if err := n.importImages(images); err != nil {
		return err
	}
	kubeconfig = file("kubeconfig")
	if err := errors.Join(
		n.run("kube-controller-manager", "--kubeconfig="+kubeconfig, "--leader-elect=false", "--bind-address=127.0.0.1", "--cert-dir="+file("manager"),
			"--service-account-private-key-file="+file("key.pem"), "--root-ca-file="+file("certificates/apiserver.crt"),
			"--horizontal-pod-autoscaler-sync-period=1s", "--horizontal-pod-autoscaler-initial-readiness-delay=0s", "--horizontal-pod-autoscaler-cpu-initialization-period=0s"),
		n.run("kube-scheduler", "--kubeconfig="+kubeconfig, "--leader-elect=false", "--bind-address=127.0.0.1", "--cert-dir="+file("scheduler")),
		n.run("kube-proxy", "--config="+file("proxy.yaml")),
		n.run("kubelet", "--config="+file("kubelet.yaml"), "--kubeconfig="+kubeconfig, "--root-dir="+file("kubelet"), "--cert-dir="+file("kubelet-certificates"),
			"--hostname-override="+nodeName, "--node-ip="+nodeAddress),
	); err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS, config.Burst = 100, 200
	if cluster, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	return n.until("the node to be ready", func(ctx context.Context) error {
		found, err := cluster.CoreV1().Nodes().Get(ctx, nodeName, meta.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range found.Status.Conditions {
			if condition.Type == core.NodeReady && condition.Status == core.ConditionTrue {
				_, err := cluster.CoreV1().ServiceAccounts("default").Get(ctx, "default", meta.GetOptions{})
				return err
			}
		}
		return fmt.Errorf("%v", found.Status.Conditions)
	})
}

// importImages waits for containerd and imports the images into it.
func (n *node) importImages(images string) error {
	socket := []string{"--address", filepath.Join(n.dir, "containerd.sock"), "--namespace", "k8s.io"}
	if err := n.until("containerd to answer", func(context.Context) error {
		_, err := command("", nil, "ctr", append(socket, "version")...)
		return err
	}); err != nil {
		return err
	}
	tars, err := filepath.Glob(filepath.Join(images, "*.tar"))
	for _, tar := range tars {
		_, problem := command("", nil, "ctr", append(socket, "images", "import", tar)...)
		err = errors.Join(err, problem)
	}
	return err
}

// wait waits until a page answers with 200.
func (n *node) wait(name, address string) error {
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // its certificate is self-signed
	return n.until(name+" to be ready", func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+token)
		resp, err := client.Do(r)
		if err != nil {
			return err
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return errors.New(resp.Status)
		}
		return nil
	})
}

// until repeats an attempt until it succeeds or a program has ended.
func (n *node) until(what string, attempt func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for {
		err := attempt(ctx)
		if err == nil {
			return nil
		}
		select {
		case ended := <-n.ended:
			return fmt.Errorf("waited for %s: %w", what, ended)
		case <-ctx.Done():
			return fmt.Errorf("waited for %s: %w", what, err)
		case <-again.C:
		}
	}
}

// writeFiles writes the configuration of all programs. test is the folder of the test.
func (n *node) writeFiles(test string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	cgroup := filepath.Base(test)
	roots, err := cgroupRoots()
	if err != nil {
		return err
	}
	for _, root := range roots {
		if len(roots) == 1 { // version 2: what the test needs, if the machine does not delegate it already
			for _, controller := range []string{"cpu", "cpuset", "memory", "pids", "io", "hugetlb"} {
				_ = os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+"+controller), 0o644)
			}
		}
		if err := os.MkdirAll(filepath.Join(root, cgroup), 0o755); err != nil { // a controller may have two names
			return err
		}
	}
	named := strings.NewReplacer("DIR", n.dir, "CGROUP", "/"+cgroup, "API", apiAddress, "TOKEN", token, "NODE", nodeName, "PAUSE", pauseImage)
	files := map[string]string{
		"key.pem":    string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})),
		"tokens.csv": token + ",admin,admin,system:masters\n",
		"resolv":     "",
	}
	for name, text := range configurations {
		files[name] = named.Replace(text)
	}
	if err := os.Mkdir(filepath.Join(n.dir, "cni"), 0o755); err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(n.dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// configurations are files in the node's folder, DIR.
var configurations = map[string]string{
	"kubeconfig": `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "API", insecure-skip-tls-verify: true}}]
users: [{name: u, user: {token: TOKEN}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
`,
	// Pods may not raise the OOM score where root lacks CAP_SYS_RESOURCE, as in some containers.
	"containerd.toml": `version = 3
root = "DIR/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.nri.v1.nri"]
[grpc]
  address = "DIR/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "DIR/opt"
[plugins."io.containerd.cri.v1.images".pinned_images]
  sandbox = "PAUSE"
[plugins."io.containerd.cri.v1.runtime"]
  restrict_oom_score_adj = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["/usr/lib/cni"]
    conf_dir = "DIR/cni"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
      SystemdCgroup = false
`,
	// With ptp, packets between two pods pass the node's iptables, where kube-proxy rewrites them. With a bridge, answers would not.
	"cni/10-pods.conflist": `{"cniVersion": "1.0.0", "name": "pods", "plugins": [{"type": "ptp", "ipMasq": false, "ipam": {
  "type": "host-local", "dataDir": "DIR/addresses", "ranges": [[{"subnet": "10.244.0.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}`,
	"kubelet.yaml": `apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
containerRuntimeEndpoint: unix://DIR/containerd.sock
cgroupDriver: cgroupfs
cgroupRoot: CGROUP
enforceNodeAllocatable: []
failCgroupV1: false
failSwapOn: false
protectKernelDefaults: true
resolvConf: DIR/resolv
podLogsDir: DIR/pods
evictionHard: {memory.available: 10Mi, nodefs.available: 1%, nodefs.inodesFree: 1%, imagefs.available: 1%}
imageGCHighThresholdPercent: 100
syncFrequency: 10s
`,
	// Without limits of its own, kube-proxy leaves the connection tracking of the machine as it is.
	"proxy.yaml": `apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: iptables
hostnameOverride: NODE
clusterCIDR: 10.244.0.0/16
clientConnection: {kubeconfig: DIR/kubeconfig}
conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}
iptables: {localhostNodePorts: false, minSyncPeriod: 0s}
`,
}
