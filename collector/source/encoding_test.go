package source

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
)

// TestGzipMembers checks that the content of a gzip member is returned before the next member begins, and that empty
// members are skipped.
func TestGzipMembers(t *testing.T) { synctest.Test(t, testGzipMembers) } // it fails at once if a read waits forever

func testGzipMembers(t *testing.T) {
	const first, second = "data: a\n\n", "data: b\n\n"
	in, sent := io.Pipe()
	defer in.Close()
	read := decompress(in, "gzip")
	for i, want := range []string{first, second} {
		written := make(chan struct{})
		go func() {
			defer close(written)
			_, _ = io.WriteString(sent, gzipMember(want))
		}()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(read, got); err != nil || string(got) != want {
			t.Fatalf("member %d: %q, %v, want %q", i, got, err, want)
		}
		<-written
	}
	all := strings.Repeat(gzipMember(""), 200) + gzipMember(first) + gzipMember("") + gzipMember(second)
	if got, err := io.ReadAll(decompress(iotest.OneByteReader(strings.NewReader(all)), "x-gzip")); err != nil || string(got) != first+second {
		t.Errorf("all members: %q, %v, want %q", got, err, first+second)
	}
	for _, broken := range []string{"", "no gzip", all[:len(all)-1], all + "x"} {
		if _, err := io.ReadAll(decompress(strings.NewReader(broken), "gzip")); (err == nil) != (broken == "") {
			t.Errorf("reading %q fails with %v", broken[:min(20, len(broken))], err)
		}
	}
}

func gzipMember(content string) string {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.WriteString(z, content)
	_ = z.Close()
	return packed.String()
}
