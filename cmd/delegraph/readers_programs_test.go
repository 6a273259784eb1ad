package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/delegraph/delegraph/collector/sse"
	"github.com/delegraph/delegraph/test/subprocess"
)

// pins are the readers' scripts and pages, with the versions of what they are made of.
const pins = "testdata/readers"

// heard is what a reader got: a frame, or what a page says of itself.
type heard struct{ ID, Event, Data string }

// reader is what a program hears, until it ends.
type reader <-chan heard

// next waits for what the reader hears next.
func (r reader) next(t *testing.T) heard {
	t.Helper()
	select {
	case h, more := <-r:
		if !more {
			t.Fatal("the reader has ended")
		}
		return h
	case <-time.After(30 * time.Second):
		t.Fatal("the reader hears nothing more")
	}
	return heard{}
}

// openPage reads with a page.
func openPage(t *testing.T, page string) reader {
	t.Helper()
	return startReader(t, readerScripts(t), program(t, "node"), "browser.mjs", program(t, "chromium"), page)
}

// startReader runs a program that prints what it hears, until the test ends.
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
	all := make(chan heard)
	go func() {
		defer close(all)
		lines := json.NewDecoder(output)
		for {
			var h heard
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

// curl calls twice, and the second time asks for what comes behind the last whole frame of the first.
func curl(t *testing.T, stream, token string) reader {
	t.Helper()
	name := program(t, "curl")
	secret := filepath.Join(t.TempDir(), "header") // others would see it among the arguments
	if err := os.WriteFile(secret, []byte("Authorization: Bearer "+token), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, kill := context.WithCancel(context.Background())
	all := make(chan heard)
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
			all <- heard{string(f.ID), event, string(f.Data)}
		}
	}
	go func() {
		defer close(all)
		call(call(""))
	}()
	t.Cleanup(func() {
		kill()
		for h := range all {
			t.Errorf("then came %+.300v", h)
		}
	})
	return all
}

// readerScripts is a folder with the readers' scripts and the packages that they import.
func readerScripts(t *testing.T) string {
	t.Helper()
	installed := os.Getenv("DELEGRAPH_READERS")
	if installed == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		installed = filepath.Join(cache, "delegraph", "readers")
	}
	if _, err := os.Stat(filepath.Join(installed, "installed")); err != nil {
		lacking(t, "the readers' npm packages are not in "+installed+": run .ci/install/readers")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(pins)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(installed, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// goReader builds the reader that is made of tmaxmax/go-sse.
func goReader(t *testing.T) string {
	t.Helper()
	compiler, dir := program(t, "go"), t.TempDir()
	// Go caches a test's result by the files that the test itself has read.
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(pins, "go"))); err != nil {
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
		lacking(t, "the module tmaxmax/go-sse is not in Go's cache: run .ci/install/readers")
	}
	if err := run("build", "-o", "reader", "."); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "reader")
}

func program(t *testing.T, name string) string {
	t.Helper()
	found, err := exec.LookPath(name)
	if err != nil {
		lacking(t, name+" is not on the PATH: see .ci/install/readers")
	}
	return found
}

// lacking skips a test that cannot be had here, except where everything must be.
func lacking(t *testing.T, sentence string) {
	t.Helper()
	if os.Getenv("DELEGRAPH_REQUIRE") == "all" {
		t.Fatal(sentence)
	}
	t.Skip(sentence)
}
