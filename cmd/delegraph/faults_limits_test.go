//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// fullFile is a file on a disk without room: one in memory, of which nothing stays behind, where root may mount it.
func fullFile(t testing.TB) *os.File {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Logf("/dev/full stands in for a full disk: mount: %v", err)
		f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	f, err := os.OpenFile(filepath.Join(dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	gone := syscall.Unmount(dir, syscall.MNT_DETACH) // the open file stays what it is
	if err := errors.Join(err, gone); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	for err == nil {
		_, err = f.Write(make([]byte, 1<<10))
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return f
}

// TestFaultDiskFull has everything that is written go to a full disk, the log with each detail and the spans: clients have every
// byte, and a stop ends well. A replay, whose output is what it is for, fails and says why.
func TestFaultDiskFull(t *testing.T) {
	agent := newRecordedAgent(t)
	proxy, admin := vacant(t), vacant(t)
	command := serveCommand(t, fmt.Sprintf(besides, vacant(t), proxy, agent.Listener.Addr()), admin, map[string]string{"OTEL_TRACES_EXPORTER": "console"}, "")
	command.Args[2] += " --log.level=debug" // of the shell's line
	command.Stdout, command.Stderr = fullFile(t), fullFile(t)
	car := ready(t, command, admin)
	for _, name := range agent.names() {
		if got := askRun(t, proxy, name); got.err != nil || !bytes.Equal(got.body, agent.recordings[name]) {
			t.Errorf("%s: the client got %d bytes of %d: %v", name, len(got.body), len(agent.recordings[name]), got.err)
		}
	}
	car.signal(t, syscall.SIGTERM)
	if err := car.Wait(); err != nil {
		t.Errorf("the process ended with %v", err)
	}

	replay := exec.CommandContext(t.Context(), "delegraph", "replay", "--format=otlp", sseFiles(t, adkCaptures["adk-go"])[0])
	said := &bytes.Buffer{}
	replay.Stdout, replay.Stderr = fullFile(t), said
	if err := replay.Run(); err == nil || !strings.Contains(said.String(), "no space left on device") {
		t.Errorf("a replay onto a full disk ends with %v, and says %q", err, said)
	}
}

// TestFaultLogUnread has the log go to a pipe that is full and that nobody reads: clients have every byte, what is not written is
// counted, and a stop ends well.
func TestFaultLogUnread(t *testing.T) {
	agent := newRecordedAgent(t)
	proxy, admin := vacant(t), vacant(t)
	command := serveCommand(t, "limits: {log_queue: 1KiB}\n"+fmt.Sprintf(besides, vacant(t), proxy, agent.Listener.Addr()), admin, nil, "")
	command.Args[2] += " --log.level=debug" // of the shell's line
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	command.Stderr = write
	car := ready(t, command, admin)
	fill(t, write)
	for _, name := range agent.names() {
		if got := askRun(t, proxy, name); got.err != nil || !bytes.Equal(got.body, agent.recordings[name]) {
			t.Errorf("%s: the client got %d bytes of %d: %v", name, len(got.body), len(agent.recordings[name]), got.err)
		}
	}
	for range 20 { // and each says that it cannot be read
		if response, err := http.Post("http://"+admin+"/-/reload?"+strings.Repeat("x", 100), "", nil); err == nil {
			response.Body.Close()
		}
	}
	await(t, func(ctx context.Context) error {
		n, err := car.scrape(ctx, "delegraph_log_lines_dropped_total")
		if err == nil && n == 0 {
			err = errors.New("no line is counted as dropped")
		}
		return err
	})
	car.signal(t, syscall.SIGTERM)
	if err := car.Wait(); err != nil {
		t.Errorf("the process ended with %v", err)
	}
}

// fill writes to a pipe until it takes no more.
func fill(t *testing.T, pipe *os.File) {
	t.Helper()
	fd := int(pipe.Fd())
	err := syscall.SetNonblock(fd, true)
	for err == nil {
		_, err = syscall.Write(fd, []byte{'\n'})
	}
	if !errors.Is(err, syscall.EAGAIN) {
		t.Fatal(err)
	}
	if err := syscall.SetNonblock(fd, false); err != nil {
		t.Fatal(err)
	}
}

// TestFaultDescriptors lets the sidecar have 64 open files, and takes them all: an open stream goes on, and so does everything
// when there is room again.
func TestFaultDescriptors(t *testing.T) {
	address, proxy, admin := vacant(t), vacant(t), vacant(t)
	agent := startOrator(t, address)
	car := ready(t, serveCommand(t, fmt.Sprintf(besides, vacant(t), proxy, address), admin, nil, "ulimit -n 64;"), admin)
	agent.say(t, callFrame)
	client := begin(t, proxy)
	client.gets(t, callFrame)
	var crowd []net.Conn
	for range 200 {
		conn, err := net.Dial("tcp", proxy) // the kernel takes those for which there is no descriptor
		if err != nil {
			t.Fatal(err)
		}
		crowd = append(crowd, conn)
	}
	await(t, func(context.Context) error { return full(car.Process.Pid, 64) })
	agent.say(t, responseFrame)
	client.gets(t, responseFrame)
	for _, conn := range crowd {
		conn.Close()
	}
	car.becomes(t, 1, "delegraph_runs_open", "source", "runs")
	agent.say(t, finalFrame)
	client.gets(t, finalFrame)
	agent.end(t)
	client.ends(t, nil)
	car.becomes(t, 1, "delegraph_runs_ended_total", "source", "runs", "status", "completed")
}

// full says whether a process has so many files open.
func full(pid, most int) error {
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err == nil && len(open) < most {
		err = fmt.Errorf("%d files are open of %d", len(open), most)
	}
	return err
}

// giants are streams that no memory should hold: a frame of 100 MB, a line without an end, and ten million empty lines of data.
var giants = map[string]func(w io.Writer){
	"giant frame": func(w io.Writer) { pour(w, `data: {"author":"a","text":"`, "x", 100<<20, "\"}\n\n") },
	"giant line":  func(w io.Writer) { pour(w, "", "x", 100<<20, "") },
	"empty lines": func(w io.Writer) { pour(w, "", "data:\n", 10_000_000, "\n") },
}

func pour(w io.Writer, before, again string, times int, after string) {
	piece := strings.Repeat(again, 1<<12)
	_, _ = io.WriteString(w, before)
	for ; times > 0; times -= 1 << 12 {
		_, _ = io.WriteString(w, piece[:len(again)*min(times, 1<<12)])
	}
	_, _ = io.WriteString(w, after)
}

// TestFaultMemory gives Go's collector less than it would like, and has the agent send what no memory should hold, several at once:
// clients have every byte, what is too large is counted, and the process stays small.
func TestFaultMemory(t *testing.T) {
	const most = 200 << 20 // of the resident memory; the streams are twelve times as large together
	agent := newRecordedAgent(t)
	agent.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for name, send := range giants {
			if bytes.Contains(body, []byte(name)) {
				send(w)
			}
		}
		_, _ = io.WriteString(w, callFrame+responseFrame+finalFrame)
	})
	proxy := vacant(t)
	car := serveProcess(t, fmt.Sprintf(besides, vacant(t), proxy, agent.Listener.Addr())+"limits: {frame: 1MiB}\n", map[string]string{"GOMEMLIMIT": "48MiB"})
	each := 3
	if raceDetector {
		each = 1
	}
	var all sync.WaitGroup
	for name, send := range giants {
		want := sha256.New()
		send(want)
		_, _ = io.WriteString(want, callFrame+responseFrame+finalFrame)
		for range each {
			all.Go(func() {
				resp, err := openRun(t.Context(), proxy, name)
				if err != nil {
					t.Error(err)
					return
				}
				defer resp.Body.Close()
				sum := sha256.New()
				n, err := io.Copy(sum, resp.Body)
				if err != nil || !bytes.Equal(sum.Sum(nil), want.Sum(nil)) {
					t.Errorf("%s: the client got %d bytes, %v", name, n, err)
				}
			})
		}
	}
	all.Wait()
	large := car.count(t, "delegraph_parse_errors_total", "reason", "too_large")
	if passed := car.count(t, "delegraph_source_unobserved_bytes_total"); large == 0 && passed == 0 {
		t.Error("nothing is said to be too large, and all of it was observed")
	}
	peak := peakMemory(t, car.Process.Pid)
	t.Logf("%v frames too large, %v bytes unobserved; %d MiB resident at most", large, car.count(t, "delegraph_source_unobserved_bytes_total"), peak>>20)
	if peak > most && !raceDetector {
		t.Errorf("%d MiB were resident", peak>>20)
	}
}

// peakMemory is the most that was resident of a process, in bytes.
func peakMemory(t *testing.T, pid int) (bytes int) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if n, err := fmt.Sscanf(line, "VmHWM: %d kB", &bytes); n == 1 && err == nil {
			return bytes << 10
		}
	}
	t.Fatalf("no peak in\n%s", status)
	return 0
}

// TestFaultScrapers has fifty scrapes at once, and fifty that never read their answer, amid runs: clients have every byte, who is
// one too many is told to come back, and the next scrape is answered.
func TestFaultScrapers(t *testing.T) {
	agent := newRecordedAgent(t)
	proxy := vacant(t)
	car := serveProcess(t, fmt.Sprintf(besides, vacant(t), proxy, agent.Listener.Addr()), nil)
	for range 50 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(car.admin, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			status, page, err := look(t.Context(), car.admin+"/metrics")
			whole := status == http.StatusOK && strings.Contains(page, "\nprocess_start_time_seconds ")
			if err != nil || !whole && status != http.StatusServiceUnavailable {
				t.Errorf("a scrape got %d, %d bytes, %v", status, len(page), err)
			}
		})
	}
	for _, name := range agent.names() {
		if got := askRun(t, proxy, name); got.err != nil || !bytes.Equal(got.body, agent.recordings[name]) {
			t.Errorf("%s: the client got %d bytes of %d: %v", name, len(got.body), len(agent.recordings[name]), got.err)
		}
	}
	all.Wait()
	car.becomes(t, float64(len(agent.names())), "delegraph_runs_ended_total", "source", "runs")
}
