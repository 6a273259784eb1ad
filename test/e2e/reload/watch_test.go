package reload_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/delegraph/delegraph/test/e2e/harness"
)

// TestWatch changes a file in every way in which editors change files.
func TestWatch(t *testing.T) {
	before := goleak.IgnoreCurrent()
	one, two := fmt.Sprintf(ofClients, "http://127.0.0.1:9"), fmt.Sprintf(ofThePublic, "http://127.0.0.1:9")
	f := harness.LaunchFile(t, one, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	policy := func() string { return f.Config().Sources[0].Policy }
	for _, step := range []struct {
		name          string
		do            func() error
		polls         int
		want, reloads string
	}{
		{"nothing", func() error { return nil }, 3, "client", "0 well, 0 not"},
		{"written again", func() error { return os.WriteFile(f.File, []byte(one), 0o600) }, 3, "client", "0 well, 0 not"},
		{"changed", func() error { return os.WriteFile(f.File, []byte(two), 0o600) }, 1, "client", "0 well, 0 not"},
		{"and the same since", func() error { return nil }, 1, "public", "1 well, 0 not"},
		{"and for long", func() error { return nil }, 3, "public", "1 well, 0 not"},
		{"half", func() error { return os.WriteFile(f.File, []byte(one[:len(one)/2]), 0o600) }, 1, "public", "1 well, 0 not"},
		{"the other half", func() error { return os.WriteFile(f.File, []byte(one), 0o600) }, 2, "client", "2 well, 0 not"},
		{"a mistake", func() error { return os.WriteFile(f.File, []byte(two+"runs: {max_opn: 1}\n"), 0o600) }, 2, "client", "2 well, 1 not"},
		{"which stays", func() error { return nil }, 3, "client", "2 well, 1 not"},
		{"another mistake", func() error { return os.WriteFile(f.File, nil, 0o600) }, 2, "client", "2 well, 2 not"},
		{"mended", func() error { return os.WriteFile(f.File, []byte(two), 0o600) }, 2, "public", "3 well, 2 not"},
		{"gone", func() error { return os.Remove(f.File) }, 4, "public", "3 well, 3 not"},
		{"back", func() error { return os.WriteFile(f.File, []byte(two), 0o600) }, 2, "public", "4 well, 3 not"},
		{"a directory", func() error { _ = os.Remove(f.File); return os.Mkdir(f.File, 0o700) }, 2, "public", "4 well, 4 not"},
		{"a new file in its place", func() error {
			_ = os.Remove(f.File)
			if err := os.WriteFile(f.File+".new", []byte(one), 0o600); err != nil {
				return err
			}
			return os.Rename(f.File+".new", f.File)
		}, 2, "client", "5 well, 4 not"},
		{"reloaded by hand", func() error { _ = os.WriteFile(f.File, []byte(two), 0o600); return f.Reload() }, 3, "public", "6 well, 4 not"},
	} {
		if err := step.do(); err != nil {
			t.Fatal(err)
		}
		for range step.polls {
			f.Poll()
		}
		if got := policy(); got != step.want || f.Reloads() != step.reloads {
			t.Errorf("%s: policy %s after %s; want %s after %s", step.name, got, f.Reloads(), step.want, step.reloads)
		}
	}

	ticks := make(chan time.Time)
	ctx, stop := context.WithCancel(t.Context())
	over := make(chan struct{})
	go func() { defer close(over); f.Watch(ctx, ticks) }()
	f.Write(t, one)
	for range 3 { // a tick is received once the poll before it has ended
		ticks <- time.Time{}
	}
	if policy() != "client" {
		t.Error("the ticks did nothing")
	}
	stop()
	<-over
	f.Stop()
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
}

// TestReloadOfPipe reloads a file that can be read only once, such as a shell's <(...). The reload does not wait for a writer.
func TestReloadOfPipe(t *testing.T) {
	text := fmt.Sprintf(ofClients, "http://127.0.0.1:9")
	f := harness.LaunchFile(t, text, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	link := f.File + ".link"
	if err := os.Symlink(f.File, link); err != nil {
		t.Fatal(err)
	}
	pipe := f.File + ".pipe"
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	f.File = pipe
	if err := f.Reload(); err == nil || err.Error() != pipe+": not a regular file, so it cannot be read again; name one with --config.file and restart delegraph" {
		t.Errorf("error %v", err)
	}
	f.Poll()
	f.File = link
	if err := f.Reload(); err != nil {
		t.Error(err)
	}
}

// TestWatchMount changes a file as a kubelet changes a mounted ConfigMap: the file is a link through ..data, which is replaced by
// a link to another directory.
func TestWatchMount(t *testing.T) {
	volume := t.TempDir()
	version := 0
	swap := func(text string) {
		t.Helper()
		version++
		was, _ := os.Readlink(filepath.Join(volume, "..data"))
		now := fmt.Sprintf("..2026_11_21_%d", version)
		temporary := filepath.Join(volume, "..data_tmp")
		for _, err := range []error{
			os.Mkdir(filepath.Join(volume, now), 0o755),
			os.WriteFile(filepath.Join(volume, now, "delegraph.yml"), []byte(text), 0o444),
			os.Symlink(now, temporary),
			os.Rename(temporary, filepath.Join(volume, "..data")),
		} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if was != "" {
			if err := os.RemoveAll(filepath.Join(volume, was)); err != nil {
				t.Fatal(err)
			}
		}
	}
	one, two := fmt.Sprintf(ofClients, "http://127.0.0.1:9"), fmt.Sprintf(ofThePublic, "http://127.0.0.1:9")
	swap(one)
	if err := os.Symlink(filepath.Join("..data", "delegraph.yml"), filepath.Join(volume, "delegraph.yml")); err != nil {
		t.Fatal(err)
	}
	f := harness.LaunchFile(t, one, map[string]string{"OTEL_TRACES_EXPORTER": "none"})
	f.File = filepath.Join(volume, "delegraph.yml")
	for _, step := range []struct{ text, reloads string }{
		{one, "0 well, 0 not"}, {two, "1 well, 0 not"}, {one, "2 well, 0 not"}, {"sources: []\n", "2 well, 1 not"}, {two, "3 well, 1 not"},
	} {
		swap(step.text)
		f.Poll()
		f.Poll()
		f.Poll()
		if got := f.Reloads(); got != step.reloads {
			t.Errorf("%s, not %s, after\n%s", got, step.reloads, step.text)
		}
		if n := f.Count(t, "delegraph_config_last_reload_successful"); (n == 1) != (step.text != "sources: []\n") {
			t.Errorf("delegraph_config_last_reload_successful is %v after\n%s", n, step.text)
		}
	}
}
