package readers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/test/component"
	"github.com/delegraph/delegraph/test/e2e/harness"
	"github.com/delegraph/delegraph/test/subprocess"
)

// receivedFrame is a frame that a reader got, or a page's message about itself.
type receivedFrame struct{ ID, Event, Data string }

// reader is the output of a reader until it ends.
type reader <-chan receivedFrame

// next returns the next item of a reader.
func (r reader) next(t *testing.T) receivedFrame {
	t.Helper()
	select {
	case h, more := <-r:
		if !more {
			t.Fatal("the reader has ended")
		}
		return h
	case <-time.After(30 * time.Second):
		t.Fatal("the reader gets no more frames")
	}
	return receivedFrame{}
}

// openPage reads with a page in a browser.
func openPage(t *testing.T, page string) reader {
	t.Helper()
	return startReader(t, harness.ReaderScripts(t), harness.Program(t, "node", "readers"), "browser.mjs", harness.Program(t, "chromium", "readers"), page)
}

// startReader runs a program that prints the frames that it gets, until the test ends.
func startReader(t *testing.T, dir, name string, args ...string) reader {
	t.Helper()
	ctx, kill := context.WithCancel(context.Background())
	command := subprocess.CommandContext(ctx, name, args...)
	command.Dir = dir
	var complaints bytes.Buffer
	command.Stderr = &complaints
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	all := make(chan receivedFrame)
	go func() {
		defer close(all)
		lines := json.NewDecoder(output)
		for {
			var h receivedFrame
			if lines.Decode(&h) != nil {
				return
			}
			all <- h
		}
	}()
	t.Cleanup(func() {
		input.Close() // asks it to end
		defer time.AfterFunc(10*time.Second, kill).Stop()
		for h := range all {
			if h.Event == "failed" {
				continue // a page retries if it is refused a ticket
			}
			t.Errorf("then came %+.300v", h)
		}
		if err := command.Wait(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if t.Failed() {
			t.Logf("%s said: %s", name, &complaints)
		}
		kill()
	})
	return all
}

// curl reads twice with curl. The second request resumes after the last whole frame of the first.
func curl(t *testing.T, stream, token string) reader {
	t.Helper()
	name := harness.Program(t, "curl", "readers")
	secret := filepath.Join(t.TempDir(), "header") // arguments are visible to other users
	if err := os.WriteFile(secret, []byte("Authorization: Bearer "+token), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, kill := context.WithCancel(context.Background())
	all := make(chan receivedFrame)
	call := func(last string) string {
		output, input := io.Pipe()
		command := subprocess.CommandContext(ctx, name, "--silent", "--no-buffer", "--header", "@"+secret, "--header", "Last-Event-ID: "+last, stream)
		command.Stdout = input
		go func() { input.CloseWithError(errors.Join(command.Run(), io.EOF)) }()
		frames := sse.NewReader(output, 0)
		for {
			f, err := frames.Next()
			if err != nil {
				return frames.LastEventID()
			}
			event := string(f.Event)
			if event == "" {
				event = "message"
			}
			all <- receivedFrame{string(f.ID), event, string(f.Data)}
		}
	}
	go func() {
		defer close(all)
		call(call(""))
	}()
	t.Cleanup(func() {
		kill()
		for h := range all {
			if h.Event == "failed" {
				continue // a page retries if it is refused a ticket
			}
			t.Errorf("then came %+.300v", h)
		}
	})
	return all
}

// goReader builds the reader that uses tmaxmax/go-sse.
func goReader(t *testing.T) string {
	t.Helper()
	compiler, dir := harness.Program(t, "go", "readers"), t.TempDir()
	// Go caches a test's result by the files that the test itself has read.
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(harness.ReaderSources, "go"))); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) error {
		command := subprocess.CommandContext(t.Context(), compiler, args...)
		command.Dir = dir
		command.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=readonly", "GOPROXY=off")
		said, err := command.CombinedOutput()
		if err != nil {
			t.Logf("%s", said)
		}
		return err
	}
	if run("mod", "download") != nil {
		component.Missing(t, "the module tmaxmax/go-sse is not in Go's cache: run .ci/install/readers")
	}
	if err := run("build", "-o", "reader", "."); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "reader")
}
