package tests

import (
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
)

// image is buildah's description of an image.
type image struct {
	OCIv1 struct {
		Architecture string
		Config       struct {
			User       string
			Entrypoint []string
			Labels     map[string]string
		}
	}
}

// TestImage builds the image for each platform. The base image is empty, because the one in the Dockerfile needs its registry. So
// certificates and time zones are not tested.
func TestImage(t *testing.T) {
	built := newBuilder(t)
	for architecture, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		t.Run(architecture, func(t *testing.T) {
			made, root := built.image(t, architecture)
			if made.OCIv1.Architecture != architecture {
				t.Errorf("the image is for %s", made.OCIv1.Architecture)
			}
			if user := made.OCIv1.Config.User; !regexp.MustCompile(`^[1-9][0-9]*:[1-9][0-9]*$`).MatchString(user) {
				t.Errorf("user %q is not a number, so runAsNonRoot cannot be checked", user)
			}
			for label, want := range map[string]string{
				"title": "Delegraph", "description": "OpenTelemetry", "licenses": "Apache-2.0", "version": "1.2.3", "revision": "0123abc",
				"url": "https://", "source": "https://", "documentation": "https://",
			} {
				if got := made.OCIv1.Config.Labels["org.opencontainers.image."+label]; !strings.Contains(got, want) {
					t.Errorf("label %s is %q; want %q in it", label, got, want)
				}
			}
			binary, err := elf.Open(filepath.Join(root, made.OCIv1.Config.Entrypoint[0]))
			if err != nil {
				t.Fatal(err)
			}
			defer binary.Close()
			if binary.Machine != machine {
				t.Errorf("the binary is for %s", binary.Machine)
			}
			for _, part := range binary.Progs {
				if part.Type == elf.PT_INTERP {
					t.Error("the binary is not static")
				}
			}
		})
	}
}

// TestImageRuns starts the image as the chart's Deployment specifies: with its arguments and configuration, a read-only root, no
// capabilities and an unprivileged user. It uses the network of this machine and no memory limit.
func TestImageRuns(t *testing.T) {
	built, runc := newBuilder(t), tool(t, "runc")
	made, root := built.image(t, runtime.GOARCH)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "agent "+r.URL.Path) }))
	t.Cleanup(agent.Close)
	admin, proxy := freePort(t), freePort(t)
	values := filepath.Join(t.TempDir(), "values.yaml")
	write(t, values, fmt.Sprintf("config: {sources: [{name: a, proxy: {listen: ':%d', upstream: 'http://agent:8000'}}], stream: {listen: ''}}\nadmin: {port: %d}", proxy, admin))
	rendered := strings.ReplaceAll(render(t, chart, "--values", values), "http://agent:8000", agent.URL)
	var deployment apps.Deployment
	strictly(t, only(t, rendered, "Deployment"), &deployment)
	container := deployment.Spec.Template.Spec.Containers[0]

	bundle := t.TempDir()
	config := filepath.Join(bundle, "config")
	if err := os.Mkdir(config, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(config, "delegraph.yml"), configuration(t, rendered))
	write(t, filepath.Join(bundle, "config.json"), bundled(t, made, root, config, container))
	states, name := t.TempDir(), fmt.Sprintf("delegraph-test-%d", os.Getpid())
	runtimeArgs := []string{"--root", states}
	running := exec.Command(runc, append(runtimeArgs, "run", "--bundle", bundle, name)...)
	var log strings.Builder
	running.Stdout, running.Stderr = &log, &log
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- running.Wait() }()
	t.Cleanup(func() { _, _, _ = run(t, runc, append(runtimeArgs, "delete", "--force", name)...) })

	for _, path := range []string{container.StartupProbe.HTTPGet.Path, container.ReadinessProbe.HTTPGet.Path, container.LivenessProbe.HTTPGet.Path} {
		if err := answers(t, fmt.Sprintf("http://127.0.0.1:%d%s", admin, path), "", ended); err != nil {
			t.Fatalf("%s: %v\n%s", path, err, log.String())
		}
	}
	if err := answers(t, fmt.Sprintf("http://127.0.0.1:%d/healthz", proxy), "agent /healthz", ended); err != nil {
		t.Error("through the proxy:", err)
	}
	checkConfined(t, runc, append(runtimeArgs, "state", name), made.OCIv1.Config.User)
	if _, problems, err := run(t, runc, append(runtimeArgs, "kill", name, "TERM")...); err != nil {
		t.Fatal(err, problems)
	}
	if err := <-ended; err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, log.String())
	}
}

// builder builds images in its own store.
type builder struct{ program, context, store, runs string }

func newBuilder(t *testing.T) builder {
	t.Helper()
	program := tool(t, "buildah")
	if os.Geteuid() != 0 || runtime.GOOS != "linux" {
		missing(t, "an image is built and started by root, on Linux")
	}
	return builder{program, t.TempDir(), t.TempDir(), t.TempDir()}
}

func (b builder) buildah(t *testing.T, args ...string) string {
	t.Helper()
	args = append([]string{"--storage-driver", "vfs", "--root", b.store, "--runroot", b.runs}, args...)
	out, problems, err := run(t, b.program, args...)
	if err != nil {
		t.Fatalf("buildah %s: %v\n%s%s", strings.Join(args, " "), err, out, problems)
	}
	return strings.TrimSpace(out)
}

// image builds an image from the Dockerfile. root is the root folder of a container.
func (b builder) image(t *testing.T, architecture string) (made image, root string) {
	t.Helper()
	platform := "linux/" + architecture
	build(t, filepath.Join(b.context, platform, "delegraph"), platform, "1.2.3")
	b.buildah(t, "bud", "--isolation", "chroot", "--platform", platform, "--build-arg", "BASE=scratch",
		"--build-arg", "VERSION=1.2.3", "--build-arg", "REVISION=0123abc",
		"--ignorefile", "../../.dockerignore", "--file", "../../Dockerfile", "--tag", "delegraph:"+architecture, b.context)
	if err := json.Unmarshal([]byte(b.buildah(t, "inspect", "--type", "image", "delegraph:"+architecture)), &made); err != nil {
		t.Fatal(err)
	}
	// With this driver a mounted image is a folder of the store.
	return made, b.buildah(t, "mount", b.buildah(t, "from", "--pull-never", "delegraph:"+architecture))
}

// bundled writes a runtime configuration for the container, as a kubelet would.
func bundled(t *testing.T, made image, root, config string, container core.Container) string {
	t.Helper()
	if len(container.VolumeMounts) != 1 || !*container.SecurityContext.ReadOnlyRootFilesystem || !*container.SecurityContext.RunAsNonRoot {
		t.Errorf("this test cannot run the container: mounts %v, security context %v", container.VolumeMounts, container.SecurityContext)
	}
	var env []string
	for _, variable := range container.Env {
		if variable.ValueFrom == nil {
			env = append(env, variable.Name+"="+variable.Value)
		}
	}
	type object = map[string]any
	text, err := json.Marshal(object{
		"ociVersion": "1.0.2",
		"root":       object{"path": root, "readonly": true},
		"process": object{
			"user": object{"uid": *container.SecurityContext.RunAsUser, "gid": *container.SecurityContext.RunAsGroup},
			"args": append(made.OCIv1.Config.Entrypoint, container.Args...), "env": env, "cwd": "/",
			"capabilities": object{}, "noNewPrivileges": true,
		},
		"mounts": []object{
			{"destination": "/proc", "type": "proc", "source": "proc"},
			{"destination": container.VolumeMounts[0].MountPath, "type": "bind", "source": config, "options": []string{"bind", "ro"}},
		},
		"linux": object{"namespaces": []object{{"type": "pid"}, {"type": "mount"}, {"type": "ipc"}, {"type": "uts"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// answers waits until a page answers as expected, while the server runs.
func answers(t *testing.T, address, want string, ended <-chan error) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return err
		}
		resp, err := http.DefaultClient.Do(r)
		if err == nil {
			said, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK && strings.Contains(string(said), want) {
				return nil
			}
			err = fmt.Errorf("%s: %s", resp.Status, said)
		}
		select {
		case how := <-ended:
			return fmt.Errorf("it has ended: %w", errors.Join(how, err))
		case <-ctx.Done():
			return err
		case <-again.C:
		}
	}
}

// checkConfined checks in /proc how the container's process runs.
func checkConfined(t *testing.T, runc string, args []string, user string) {
	t.Helper()
	out, problems, err := run(t, runc, args...)
	var state struct{ Pid int }
	if err := errors.Join(err, json.Unmarshal([]byte(out), &state)); err != nil {
		t.Fatal(err, problems)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", state.Pid))
	if err != nil {
		t.Fatal(err)
	}
	uid, gid, _ := strings.Cut(user, ":")
	for name, want := range map[string]string{
		"Uid": strings.Repeat(`\s`+uid, 4), "Gid": strings.Repeat(`\s`+gid, 4), "CapEff": `\s0+`, "CapBnd": `\s0+`, "NoNewPrivs": `\s1`,
	} {
		if !regexp.MustCompile(`(?m)^` + name + ":" + want + "$").Match(status) {
			t.Errorf("%s is not %q in\n%s", name, want, status)
		}
	}
	mounts, err := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", state.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)^\d+ \d+ \S+ \S+ / ro[, ]`).Match(mounts) {
		t.Errorf("the root is not read-only:\n%s", mounts)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
