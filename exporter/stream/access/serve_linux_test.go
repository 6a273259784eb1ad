package access

import (
	"net"
	"net/http"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// recordingListener is a listener that keeps its accepted connections.
type recordingListener struct {
	net.Listener
	accepted chan *net.TCPConn
}

func (r recordingListener) Accept() (net.Conn, error) {
	conn, err := r.Listener.Accept()
	if err == nil {
		r.accepted <- conn.(*net.TCPConn)
	}
	return conn, err
}

func TestSendBuffer(t *testing.T) {
	a := newAuthority(t)
	for _, test := range []struct{ scheme, config string }{{"http", ""}, {"https", a.webConfigWith(t, "}")}} {
		t.Run(test.scheme, func(t *testing.T) {
			l := recordingListener{listen(t), make(chan *net.TCPConn, 1)}
			size := make(chan int, 1)
			serve(t, l, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
				raw, err := (<-l.accepted).SyscallConn()
				if err != nil {
					t.Error(err)
				}
				raw.Control(func(fd uintptr) {
					value, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF)
					if err != nil {
						t.Error(err)
					}
					size <- value
				})
			}), test.config, Shutdown{Grace: time.Minute})
			if got := ask(clientOf(t, a), test.scheme+"://"+l.Addr().String(), "", "", ""); got != "" {
				t.Fatal(got)
			}
			// Linux doubles the requested size for its own bookkeeping: socket(7).
			if got := <-size; got != 2*sendBuffer {
				t.Errorf("the send buffer has %d bytes, want %d", got, 2*sendBuffer)
			}
		})
	}
}

// TestPipeIsNotOpened checks that a pipe is not opened, because that would wait for a writer.
func TestPipeIsNotOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "readers")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	if _, err := New(Settings{TokensFile: path}); err == nil {
		t.Error("a named pipe is taken for a tokens file")
	}
}
