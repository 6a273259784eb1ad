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

func TestWriteNeverBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read, write := io.Pipe()
		q := New(write, 1<<10)
		_, _ = io.WriteString(q, "first\n")
		synctest.Wait() // it is in the pipe, which nobody reads
		line := strings.Repeat("x", 99) + "\n"
		for range 12 {
			if n, err := io.WriteString(q, line); n != len(line) || err != nil {
				t.Fatalf("a line was not taken: %d, %v", n, err)
			}
		}
		if got := q.Lost(); got != 2 {
			t.Errorf("of 12 lines of 100 bytes %d were dropped, where 1,024 bytes may wait", got)
		}
		began := time.Now()
		q.Close(time.Second)
		if took := time.Since(began); took != time.Second {
			t.Errorf("the end waited %s for a reader, and had a second", took)
		}
		_, _ = io.WriteString(q, line)
		if got := q.Lost(); got != 3 {
			t.Errorf("%d lines are counted as dropped, with one after the end it is 3", got)
		}
		var said bytes.Buffer
		go func() { <-q.done; _ = write.Close() }()
		if _, err := io.Copy(&said, read); err != nil {
			t.Fatal(err)
		}
		if want := "first\n" + strings.Repeat(line, 10); said.String() != want {
			t.Errorf("the reader came and got %d bytes of %d", said.Len(), len(want))
		}
	})
}

func TestLogQueueWritesAllBeforeTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said bytes.Buffer
		q := New(&said, 1<<10)
		for range 5 {
			_, _ = io.WriteString(q, "line\n")
		}
		q.Close(time.Second)
		if got := said.String(); got != strings.Repeat("line\n", 5) || q.Lost() != 0 {
			t.Errorf("%q was written, and %d dropped", got, q.Lost())
		}
	})
}

// fullOnce is a disk that has room again after its first line.
type fullOnce struct{ bytes.Buffer }

func (f *fullOnce) Write(p []byte) (int, error) {
	if f.Len() == 0 {
		f.Buffer.WriteString("!")
		return 0, errors.New("no space left on device")
	}
	return f.Buffer.Write(p)
}

func TestLogQueueGoesOnAfterAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := &fullOnce{}
		q := New(disk, 1<<10)
		_, _ = io.WriteString(q, "lost\n")
		synctest.Wait()
		_, _ = io.WriteString(q, "there\n")
		q.Close(time.Second)
		if got := disk.String(); got != "!there\n" || q.Lost() != 1 {
			t.Errorf("%q was written, and %d dropped", got, q.Lost())
		}
	})
}
