package logqueue

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestWriteNeverBlocks checks that Write drops lines over the limit, and that Close waits no longer than its timeout, if the output is blocked.
func TestWriteNeverBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read, write := io.Pipe()
		q := New(write, 1<<10)
		_, _ = io.WriteString(q, "first\n")
		synctest.Wait() // run is blocked, because nothing reads the pipe
		line := strings.Repeat("x", 99) + "\n"
		for range 12 {
			if n, err := io.WriteString(q, line); n != len(line) || err != nil {
				t.Fatalf("Write() = %d, %v", n, err)
			}
		}
		if got := q.DroppedLines(); got != 2 {
			t.Errorf("%d of 12 lines of 100 bytes are dropped with a limit of 1,024 bytes, want 2", got)
		}
		start := time.Now()
		q.Close(time.Second)
		if took := time.Since(start); took != time.Second {
			t.Errorf("Close takes %s, want one second", took)
		}
		_, _ = io.WriteString(q, line)
		if got := q.DroppedLines(); got != 3 {
			t.Errorf("DroppedLines() = %d after a line that follows Close, want 3", got)
		}
		var output bytes.Buffer
		go func() { <-q.done; _ = write.Close() }()
		if _, err := io.Copy(&output, read); err != nil {
			t.Fatal(err)
		}
		if want := "first\n" + strings.Repeat(line, 10); output.String() != want {
			t.Errorf("the reader gets %d bytes, want %d", output.Len(), len(want))
		}
	})
}

// TestCloseWritesAll checks that Close waits until all lines are written.
func TestCloseWritesAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var output bytes.Buffer
		q := New(&output, 1<<10)
		for range 5 {
			_, _ = io.WriteString(q, "line\n")
		}
		q.Close(time.Second)
		if got := output.String(); got != strings.Repeat("line\n", 5) || q.DroppedLines() != 0 {
			t.Errorf("the output is %q, and %d lines are dropped", got, q.DroppedLines())
		}
	})
}

// failingOnce is a writer whose first write fails, like that of a full disk.
type failingOnce struct{ bytes.Buffer }

func (f *failingOnce) Write(p []byte) (int, error) {
	if f.Len() == 0 {
		f.Buffer.WriteString("!")
		return 0, errors.New("no space left on device")
	}
	return f.Buffer.Write(p)
}

// TestWriteAfterError checks that lines are written after an error of the output.
func TestWriteAfterError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &failingOnce{}
		q := New(disk, 1<<10)
		_, _ = io.WriteString(q, "lost\n")
		synctest.Wait()
		_, _ = io.WriteString(q, "there\n")
		q.Close(time.Second)
		if got := disk.String(); got != "!there\n" || q.DroppedLines() != 1 {
			t.Errorf("the output is %q, and %d lines are dropped", got, q.DroppedLines())
		}
	})
}
