//go:build linux

package faults_test

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

	"github.com/delegraph/delegraph/test/agents/fakeagent"
	"github.com/delegraph/delegraph/test/agents/recorded"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/loopback"
)

// fullFile returns a file on a full disk: a file system in memory if the test may mount one, else /dev/full.
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
	gone := syscall.Unmount(dir, syscall.MNT_DETACH) // the open file keeps working
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

// TestFaultDiskFull writes the log at level debug and the spans to a full disk. Clients get every byte and the shutdown succeeds.
// A replay onto a full disk fails with an error.
func TestFaultDiskFull(t *testing.T) {
	agent := recorded.NewAgent(t)
	proxy, admin := loopback.FreeAddress(t), loopback.FreeAddress(t)
	command := harness.ServeCommand(t, fmt.Sprintf(besides, loopback.FreeAddress(t), proxy, agent.Listener.Addr()), admin, map[string]string{"OTEL_TRACES_EXPORTER": "console"}, "")
	command.Args[2] += " --log.level=debug" // of the shell's command line
	command.Stdout, command.Stderr = fullFile(t), fullFile(t)
	service := harness.StartReady(t, command, admin)
	for _, name := range agent.Names() {
		if got := harness.AskRun(t, proxy, name); got.Err != nil || !bytes.Equal(got.Body, agent.Recordings[name]) {
			t.Errorf("%s: the client got %d bytes of %d: %v", name, len(got.Body), len(agent.Recordings[name]), got.Err)
		}
	}
	service.Signal(t, syscall.SIGTERM)
	if err := service.Wait(); err != nil {
		t.Errorf("the process ended with %v", err)
	}

	replay := exec.CommandContext(t.Context(), "delegraph", "replay", "--format=otlp", recorded.Files(t, recorded.ADKCaptures["adk-go"])[0])
	said := &bytes.Buffer{}
	replay.Stdout, replay.Stderr = fullFile(t), said
	if err := replay.Run(); err == nil || !strings.Contains(said.String(), "no space left on device") {
		t.Errorf("a replay onto a full disk ends with %v, and says %q", err, said)
	}
}

// TestFaultLogUnread fills the pipe of the log, which is never read. Clients get every byte, dropped lines are counted and the
// shutdown succeeds.
func TestFaultLogUnread(t *testing.T) {
	agent := recorded.NewAgent(t)
	proxy, admin := loopback.FreeAddress(t), loopback.FreeAddress(t)
	command := harness.ServeCommand(t, "limits: {log_queue: 1KiB}\n"+fmt.Sprintf(besides, loopback.FreeAddress(t), proxy, agent.Listener.Addr()), admin, nil, "")
	command.Args[2] += " --log.level=debug" // of the shell's command line
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	command.Stderr = write
	service := harness.StartReady(t, command, admin)
	fill(t, write)
	for _, name := range agent.Names() {
		if got := harness.AskRun(t, proxy, name); got.Err != nil || !bytes.Equal(got.Body, agent.Recordings[name]) {
			t.Errorf("%s: the client got %d bytes of %d: %v", name, len(got.Body), len(agent.Recordings[name]), got.Err)
		}
	}
	for range 20 { // each of these logs that it cannot be parsed
		if response, err := http.Post("http://"+admin+"/-/reload?"+strings.Repeat("x", 100), "", nil); err == nil {
			response.Body.Close()
		}
	}
	awaitMoreDropped(t, service, 0)
	service.Signal(t, syscall.SIGTERM)
	if err := service.Wait(); err != nil {
		t.Errorf("the process ended with %v", err)
	}
}

// TestFaultLogReaderExits closes the pipes of the log and of the spans on standard output while a stream is open, like a log shipper that
// exits. The stream continues and dropped lines are counted.
func TestFaultLogReaderExits(t *testing.T) {
	address, proxy, admin := loopback.FreeAddress(t), loopback.FreeAddress(t), loopback.FreeAddress(t)
	agent := startFakeAgent(t, address)
	environment := map[string]string{"OTEL_TRACES_EXPORTER": "console", "OTEL_BSP_SCHEDULE_DELAY": "10"}
	command := harness.ServeCommand(t, fmt.Sprintf(besides, loopback.FreeAddress(t), proxy, address), admin, environment, "")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	command.Stdout, command.Stderr = write, write
	service := harness.StartReady(t, command, admin)
	if err := errors.Join(read.Close(), write.Close()); err != nil {
		t.Fatal(err)
	}
	agent.say(t, fakeagent.CallFrame)
	client := begin(t, proxy)
	client.gets(t, fakeagent.CallFrame)
	service.Signal(t, syscall.SIGHUP) // a reload is logged
	dropped := awaitMoreDropped(t, service, 0)
	agent.say(t, fakeagent.ResponseFrame) // ends an operation; that its span cannot be written is logged
	client.gets(t, fakeagent.ResponseFrame)
	awaitMoreDropped(t, service, dropped)
	agent.say(t, fakeagent.FinalFrame)
	client.gets(t, fakeagent.FinalFrame)
	agent.end(t)
	client.ends(t, nil)
	service.WaitMetric(t, 1, "delegraph_runs_ended_total", "source", "runs", "status", "completed")
}

// awaitMoreDropped waits until more than n log lines are dropped, and returns their number.
func awaitMoreDropped(t *testing.T, service *harness.Instance, n float64) (dropped float64) {
	t.Helper()
	harness.Await(t, func(ctx context.Context) (err error) {
		dropped, err = service.Metric(ctx, "delegraph_log_lines_dropped_total")
		if err == nil && dropped <= n {
			err = fmt.Errorf("%v log lines are dropped, want more than %v", dropped, n)
		}
		return err
	})
	return dropped
}

// fill writes to a pipe until it is full.
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

// TestFaultDescriptors gives the sidecar 64 open files and uses all of them. An open stream continues, and everything else does
// once files are free again.
func TestFaultDescriptors(t *testing.T) {
	address, proxy, admin := loopback.FreeAddress(t), loopback.FreeAddress(t), loopback.FreeAddress(t)
	agent := startFakeAgent(t, address)
	service := harness.StartReady(t, harness.ServeCommand(t, fmt.Sprintf(besides, loopback.FreeAddress(t), proxy, address), admin, nil, "ulimit -n 64;"), admin)
	agent.say(t, fakeagent.CallFrame)
	client := begin(t, proxy)
	client.gets(t, fakeagent.CallFrame)
	var crowd []net.Conn
	for range 200 {
		conn, err := net.Dial("tcp", proxy) // the kernel accepts connections even without a descriptor
		if err != nil {
			t.Fatal(err)
		}
		crowd = append(crowd, conn)
	}
	harness.Await(t, func(context.Context) error { return full(service.Process.Pid, 64) })
	agent.say(t, fakeagent.ResponseFrame)
	client.gets(t, fakeagent.ResponseFrame)
	for _, conn := range crowd {
		conn.Close()
	}
	service.WaitMetric(t, 1, "delegraph_runs_open", "source", "runs")
	agent.say(t, fakeagent.FinalFrame)
	client.gets(t, fakeagent.FinalFrame)
	agent.end(t)
	client.ends(t, nil)
	service.WaitMetric(t, 1, "delegraph_runs_ended_total", "source", "runs", "status", "completed")
}

// full returns an error unless a process has a number of files open.
func full(pid, most int) error {
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err == nil && len(open) < most {
		err = fmt.Errorf("%d files are open of %d", len(open), most)
	}
	return err
}

// giants are streams that must not be held in memory: a frame of 100 MB, a line of 100 MB, and ten million empty data lines.
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

// TestFaultMemory makes the agent send several giants at once to a process with a low GOMEMLIMIT. Clients get every byte,
// oversized frames are counted, and memory stays small.
func TestFaultMemory(t *testing.T) {
	const most = 200 << 20 // of resident memory; together the streams are twelve times as large
	agent := recorded.NewAgent(t)
	agent.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for name, send := range giants {
			if bytes.Contains(body, []byte(name)) {
				send(w)
			}
		}
		_, _ = io.WriteString(w, fakeagent.Run)
	})
	proxy := loopback.FreeAddress(t)
	service := harness.Serve(t, fmt.Sprintf(besides, loopback.FreeAddress(t), proxy, agent.Listener.Addr())+"limits: {frame: 1MiB}\n", map[string]string{"GOMEMLIMIT": "48MiB"})
	each := 3
	if harness.RaceDetector {
		each = 1
	}
	var all sync.WaitGroup
	for name, send := range giants {
		want := sha256.New()
		send(want)
		_, _ = io.WriteString(want, fakeagent.Run)
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
	large := service.Count(t, "delegraph_parse_errors_total", "reason", "too_large")
	if passed := service.Count(t, "delegraph_source_unobserved_bytes_total"); large == 0 && passed == 0 {
		t.Error("no frame was counted as too large, and everything was observed")
	}
	peak := peakMemory(t, service.Process.Pid)
	t.Logf("%v frames too large, %v bytes unobserved; %d MiB resident at most", large, service.Count(t, "delegraph_source_unobserved_bytes_total"), peak>>20)
	if peak > most && !harness.RaceDetector {
		t.Errorf("%d MiB were resident", peak>>20)
	}
}

// peakMemory returns the peak of the resident memory of a process in bytes.
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

// TestFaultScrapers starts fifty scrapes at once and fifty that never read their answer, during runs. Clients get every byte,
// excess scrapes are told to retry, and the next scrape succeeds.
func TestFaultScrapers(t *testing.T) {
	agent := recorded.NewAgent(t)
	proxy := loopback.FreeAddress(t)
	service := harness.Serve(t, fmt.Sprintf(besides, loopback.FreeAddress(t), proxy, agent.Listener.Addr()), nil)
	for range 50 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(service.Admin, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			status, page, err := harness.Fetch(t.Context(), service.Admin+"/metrics")
			whole := status == http.StatusOK && strings.Contains(page, "\nprocess_start_time_seconds ")
			if err != nil || !whole && status != http.StatusServiceUnavailable {
				t.Errorf("a scrape got %d, %d bytes, %v", status, len(page), err)
			}
		})
	}
	for _, name := range agent.Names() {
		if got := harness.AskRun(t, proxy, name); got.Err != nil || !bytes.Equal(got.Body, agent.Recordings[name]) {
			t.Errorf("%s: the client got %d bytes of %d: %v", name, len(got.Body), len(agent.Recordings[name]), got.Err)
		}
	}
	all.Wait()
	service.WaitMetric(t, float64(len(agent.Names())), "delegraph_runs_ended_total", "source", "runs")
}
