//go:build linux

// Package cluster tests the chart on a real node of Kubernetes: etcd, the control plane, kube-proxy, a kubelet, containerd and runc.
// `make cluster` runs it, as root.
//
// All of it runs in namespaces of its own: processes, mounts, network, host name. The kernel ends everything in them when the test
// ends, even if it is killed. Cgroups and the test's folder remain then, and a process outside of the namespaces removes them.
package cluster

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

var wanted = flag.Bool("cluster", false, "start a node of Kubernetes and test the chart on it, as root; .ci/install/kubernetes and .ci/install/helm install the programs")

// Environment variables that tell this program its stage and the test's folder.
const (
	stage  = "DELEGRAPH_CLUSTER_STAGE"
	folder = "DELEGRAPH_CLUSTER_FOLDER"
)

// A process that is to end with its parent ends with the parent's thread, so the main thread starts it.
func init() { runtime.LockOSThread() }

func TestMain(m *testing.M) {
	flag.Parse()
	if !*wanted {
		os.Exit(m.Run())
	}
	status, err := 1, error(nil)
	dir := os.Getenv(folder)
	switch os.Getenv(stage) {
	case "":
		status, err = outside()
	case "sweep":
		status, err = 0, sweep(dir)
	case "init":
		status, err = inside(dir)
	case "test":
		status, err = withNode(m, dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		status = 1
	}
	os.Exit(status)
}

// outside builds the images, starts the namespaces, and returns the exit status of what runs in them.
func outside() (status int, err error) {
	if os.Geteuid() != 0 {
		return 0, errors.New("a node of Kubernetes needs root")
	}
	dir, err := os.MkdirTemp("", "delegraph-cluster-")
	if err != nil {
		return 0, err
	}
	sweeper := again("sweep", dir)
	sweeper.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a signal to this process's group must not end it
	ended, err := sweeper.StdinPipe()                        // closed when this process ends, for whatever reason
	if err != nil {
		return 0, err
	}
	if err := sweeper.Start(); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, ended.Close(), sweeper.Wait()) }()
	if err := buildImages(dir); err != nil {
		return 0, err
	}
	node := again("init", dir)
	node.SysProcAttr = &syscall.SysProcAttr{
		Pdeathsig:  syscall.SIGKILL,
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
	}
	if err := node.Run(); err != nil && node.ProcessState == nil {
		return 0, err
	}
	return node.ProcessState.ExitCode(), nil
}

// again returns a command that runs this program in another stage.
func again(next, dir string) *exec.Cmd {
	c := exec.Command("/proc/self/exe", os.Args[1:]...)
	c.Env = append(os.Environ(), stage+"="+next, folder+"="+dir)
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	return c
}

// cgroupRoots returns the mount points of cgroups: one with version 2, one for each controller with version 1.
func cgroupRoots() ([]string, error) {
	const root = "/sys/fs/cgroup"
	if _, err := os.Stat(filepath.Join(root, "cgroup.controllers")); err == nil {
		return []string{root}, nil
	}
	return filepath.Glob(root + "/*")
}

// sweep waits until the test has ended, and removes its cgroups and its folder. The kernel may take a moment to end the last processes.
func sweep(dir string) error {
	if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
		return err
	}
	roots, err := cgroupRoots()
	for range 300 {
		left := 0
		for _, root := range roots {
			left += removeCgroups(filepath.Join(root, filepath.Base(dir)))
		}
		if left == 0 {
			return errors.Join(err, os.RemoveAll(dir))
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("cgroups %s are still in use", filepath.Base(dir))
}

// removeCgroups removes a cgroup and those below it, and returns the number of those that are still in use.
func removeCgroups(root string) (left int) {
	var cgroups []string
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			cgroups = append(cgroups, path)
		}
		return nil
	})
	for i := len(cgroups) - 1; i >= 0; i-- {
		if err := syscall.Rmdir(cgroups[i]); err != nil && !errors.Is(err, syscall.ENOENT) {
			left++
		}
	}
	return left
}

// inside is process 1 of the namespaces. It prepares them, and returns the exit status of the test.
func inside(dir string) (int, error) {
	if err := errors.Join(prepareMounts(dir), prepareNetwork(), syscall.Sethostname([]byte(nodeName))); err != nil {
		return 0, err
	}
	test := again("test", dir)
	if err := test.Start(); err != nil {
		return 0, err
	}
	for { // also reaps what containerd's shims leave
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return 0, err
		}
		if pid == test.Process.Pid {
			return status.ExitStatus(), nil
		}
	}
}

// prepareMounts covers every folder of the machine that the node writes to.
func prepareMounts(dir string) error {
	problems := []error{syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, "")}
	problems = append(problems, syscall.Mount("proc", "/proc", "proc", 0, ""))
	images := filepath.Join(dir, "images")
	node := filepath.Join(dir, "node")
	problems = append(problems, os.Mkdir(node, 0o755))
	for _, covered := range []string{node, "/run", "/var/log", "/var/lib", "/etc/cni"} {
		if _, err := os.Stat(covered); err == nil {
			problems = append(problems, syscall.Mount("tmpfs", covered, "tmpfs", 0, "mode=755"))
		}
	}
	// The kubelet wants these values and would write them for the whole machine.
	for name, value := range map[string]string{
		"vm/overcommit_memory": "1", "vm/panic_on_oom": "0", "kernel/panic": "10", "kernel/panic_on_oops": "1",
		"kernel/keys/root_maxkeys": "1000000", "kernel/keys/root_maxbytes": "25000000",
	} {
		file := filepath.Join(images, strings.ReplaceAll(name, "/", "-"))
		problems = append(problems, os.WriteFile(file, []byte(value+"\n"), 0o644), syscall.Mount(file, "/proc/sys/"+name, "", syscall.MS_BIND, ""))
	}
	return errors.Join(problems...)
}

// prepareNetwork gives the node an address, and a default route, by which Kubernetes finds it.
func prepareNetwork() error {
	for _, command := range []string{
		"link set lo up", "link add node type bridge", "addr add " + nodeAddress + "/24 dev node", "link set node up", "route add default dev node",
	} {
		if out, err := exec.Command("ip", strings.Fields(command)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", command, err, out)
		}
	}
	return nil
}
