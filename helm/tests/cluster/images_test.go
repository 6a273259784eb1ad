//go:build linux

package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// Names of the images, all of them built here.
const (
	delegraphImage = "delegraph.test/delegraph"
	agentImage     = "delegraph.test/agent:1"
	pauseImage     = "delegraph.test/pause:1"
	natsImage      = "delegraph.test/nats:1"
	imageTag       = "1.2.3"
)

// tool returns the path of a program, from the folder into which a script of .ci/install installs it or from the PATH.
func tool(installer, name string) (string, error) {
	dir := os.Getenv("DELEGRAPH_" + strings.ToUpper(installer))
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(cache, "delegraph", installer)
	}
	path := filepath.Join(dir, "bin", name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("there is no %s here; .ci/install/%s installs it", name, installer)
	}
	return path, nil
}

// command runs a program and returns its output. An error contains what the program wrote.
func command(dir string, env []string, program string, args ...string) (string, error) {
	c := exec.Command(program, args...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	var problems strings.Builder
	c.Stderr = &problems
	out, err := c.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", program, strings.Join(args, " "), err, out, problems.String())
	}
	return string(out), nil
}

// buildImages writes the images of the test into a folder, as tars: Delegraph's from its Dockerfile with an empty base image, and those
// of one program each.
func buildImages(dir string) error {
	images, err := filepath.Abs(filepath.Join(dir, "images"))
	if err != nil {
		return err
	}
	linux := filepath.Join(dir, "context", "linux", runtime.GOARCH)
	if err := os.MkdirAll(linux, 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(images, 0o755); err != nil {
		return err
	}
	nats, err := tool("nats", "nats-server")
	if err != nil {
		return err
	}
	static := []string{"CGO_ENABLED=0", "GOWORK=off"}
	for name, build := range map[string][2]string{"delegraph": {"../../..", "./cmd/delegraph"}, "agent": {".", "./agent"}} {
		if _, err := command(build[0], static, "go", "build", "-trimpath", "-o", filepath.Join(linux, name), build[1]); err != nil {
			return err
		}
	}
	if _, err := command("", nil, "cp", nats, filepath.Join(linux, "nats-server")); err != nil {
		return err
	}
	small := "FROM scratch\nARG TARGETPLATFORM\nCOPY ${TARGETPLATFORM}/%[1]s /%[1]s\nENTRYPOINT [\"/%[1]s\"%[2]s]\n"
	for tag, dockerfile := range map[string]string{
		agentImage:                      fmt.Sprintf(small, "agent", ""),
		pauseImage:                      fmt.Sprintf(small, "agent", `, "pause"`),
		natsImage:                       fmt.Sprintf(small, "nats-server", ""),
		delegraphImage + ":" + imageTag: "",
	} {
		file := "../../../Dockerfile"
		if dockerfile != "" {
			file = filepath.Join(dir, "Dockerfile")
			if err := os.WriteFile(file, []byte(dockerfile), 0o644); err != nil {
				return err
			}
		}
		if err := buildImage(dir, file, tag, filepath.Join(images, strings.NewReplacer("/", "-", ":", "-").Replace(tag)+".tar")); err != nil {
			return err
		}
	}
	return nil
}

func buildImage(dir, dockerfile, tag, tar string) error {
	buildah := []string{"--storage-driver", "vfs", "--root", filepath.Join(dir, "store"), "--runroot", filepath.Join(dir, "runs")}
	built := append(buildah, "bud", "--isolation", "chroot", "--platform", "linux/"+runtime.GOARCH, "--build-arg", "BASE=scratch",
		"--file", dockerfile, "--tag", tag, filepath.Join(dir, "context"))
	if _, err := command("", nil, "buildah", built...); err != nil {
		return err
	}
	_, err := command("", nil, "buildah", append(buildah, "push", tag, "docker-archive:"+tar+":"+tag)...)
	return err
}
