package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// patience is the timeout of all waiting.
const patience = 60 * time.Second

// process is a child process.
type process struct {
	*exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	pid int // the process whose processor time is measured
}

// begin starts a process. Call stop to end it.
func (b *bench) begin(env []string, program string, arguments ...string) (*process, error) {
	p := &process{Cmd: exec.CommandContext(b.context, program, arguments...)}
	p.Env = append(os.Environ(), env...)
	p.Dir = b.scratch
	var err error
	if p.in, err = p.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.Start(); err != nil {
		return nil, err
	}
	p.pid = p.Process.Pid
	return p, nil
}

// as starts this program in another role.
func (b *bench) as(role string, arguments ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p, err := b.begin(nil, self, append([]string{"as", role}, arguments...)...)
	if err == nil {
		p.Stderr = os.Stderr
	}
	return p, err
}

func (p *process) stop() {
	_ = p.in.Close()
	_ = p.Process.Signal(syscall.SIGTERM)
	late := time.AfterFunc(10*time.Second, func() { _ = p.Process.Kill() })
	defer late.Stop()
	_ = p.Wait()
}

// line returns the next line that the process writes.
func (p *process) line() (string, error) {
	late := time.AfterFunc(patience, func() { _ = p.Process.Kill() })
	defer late.Stop()
	line, err := p.out.ReadString('\n')
	return strings.TrimSpace(line), err
}

// tell writes a line to the process and waits for its answer.
func (p *process) tell(command string) error {
	if _, err := io.WriteString(p.in, command+"\n"); err != nil {
		return err
	}
	_, err := p.line()
	return err
}

var errNotLinux = errors.New("the processor time of other processes is available only on Linux")

// processorTime returns the processor time that all threads of a process have used so far.
func processorTime(pid int) time.Duration {
	var t unix.Timespec
	if runtime.GOOS != "linux" || unix.ClockGettime(int32(^pid<<3|2), &t) != nil { // the clock id of clock_getcpuclockid(3)
		return 0
	}
	return time.Duration(t.Nano())
}

// resident returns the resident memory of a process and its children in bytes.
func resident(pid int) (float64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, errNotLinux
	}
	var kib float64
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0, err
	}
	total := kib * 1024
	for _, child := range children(pid) {
		more, err := resident(child)
		if err != nil {
			return 0, err
		}
		total += more
	}
	return total, nil
}

func children(pid int) (pids []int) {
	list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", pid))
	for child := range strings.FieldsSeq(string(list)) {
		if n, err := strconv.Atoi(child); err == nil {
			pids = append(pids, n)
		}
	}
	return pids
}

// settle waits until a process is idle.
func settle(pid int) {
	const still = 10 * time.Millisecond
	for begin, last := time.Now(), processorTime(pid); time.Since(begin) < patience; {
		time.Sleep(still)
		now := processorTime(pid)
		if now-last < still/50 {
			return
		}
		last = now
	}
}

// freeAddress returns an address that is free now.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// listens waits until an address accepts connections.
func listens(address string) error {
	return until(func() error {
		conn, err := net.Dial("tcp4", address)
		if err == nil {
			_ = conn.Close()
		}
		return err
	})
}

// answers waits until a URL answers with status 200.
func answers(url string) error {
	return until(func() error {
		resp, err := http.Get(url)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s: %s", url, resp.Status)
		}
		return nil
	})
}

func until(try func() error) error {
	for begin := time.Now(); ; time.Sleep(300 * time.Microsecond) {
		err := try()
		if err == nil || time.Since(begin) > patience/6 {
			return err
		}
	}
}

// installed returns the path of a program from .ci/install/peers or from the machine.
func installed(program string) (string, error) {
	if dir, err := peersFolder(); err == nil {
		for _, folder := range []string{"usr/sbin", "usr/bin"} {
			path := filepath.Join(dir, folder, program)
			if _, err := os.Stat(path); err == nil {
				return path, nil
			}
		}
	}
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	return exec.LookPath(filepath.Join("/usr/sbin", program))
}

func peersFolder() (string, error) {
	if dir := os.Getenv("DELEGRAPH_PEERS"); dir != "" {
		return dir, nil
	}
	cache, err := os.UserCacheDir()
	return filepath.Join(cache, "delegraph", "peers"), err
}
