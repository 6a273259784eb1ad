package access

import (
	"context"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"time"

	toolkit "github.com/prometheus/exporter-toolkit/web"
)

// Limits of a connection. There is no limit to how long an answer takes: a stream sets a deadline for each write.
const (
	headerWait = 5 * time.Second
	bodyWait   = 5 * time.Second
	idleWait   = time.Minute
	stuckWait  = 10 * time.Second // for a byte of an HTTP/2 connection to leave
	headerSize = 16 << 10         // bytes
	sendBuffer = 64 << 10         // bytes
)

// Shutdown is how serving ends.
type Shutdown struct {
	Drain func(context.Context) // ends the open streams before its context does, and refuses new ones; nil: nothing to do
	Grace time.Duration         // for draining and for the answers under way; then connections are cut
}

// Serve answers at the listener, which it closes, as the toolkit's web configuration file says ("" for plain HTTP) until the
// context is done, and then shuts down.
func Serve(
	ctx context.Context, l net.Listener, h http.Handler, webConfigFile string, shutdown Shutdown, logger *slog.Logger,
) error {
	defer l.Close()
	server := &http.Server{
		Handler:           guarded(h),
		ReadHeaderTimeout: headerWait,
		IdleTimeout:       idleWait,
		MaxHeaderBytes:    headerSize,
		// A deadline ends one HTTP/2 stream, not the connection that is stuck.
		HTTP2: &http.HTTP2Config{WriteByteTimeout: stuckWait},
		// It would repeat a broken handshake's names, and a panic's value.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	defer server.Close()
	served := make(chan error, 1)
	go func() {
		served <- toolkit.Serve(bounded{l}, server, &toolkit.FlagConfig{WebConfigFile: &webConfigFile}, logger)
	}()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdown.Grace)
	defer cancel()
	if shutdown.Drain != nil {
		shutdown.Drain(within)
	}
	_ = server.Shutdown(within) // that time is up is no error: what is still open is closed
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// bounded gives connections a small send buffer: the kernel would take megabytes for a subscriber who reads nothing, and
// hide from us that they do not. It wraps below TLS, where the buffer is.
type bounded struct{ net.Listener }

func (b bounded) Accept() (net.Conn, error) {
	conn, err := b.Listener.Accept()
	if buffered, ok := conn.(interface{ SetWriteBuffer(int) error }); ok {
		// An error is the connection's, and its first write meets it too.
		_ = buffered.SetWriteBuffer(sendBuffer)
	}
	return conn, err
}

// guarded gives a request's body, which none of ours has a use for, little time: the server reads what is left of it, without
// a limit of time of its own.
func guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != http.NoBody {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyWait))
		}
		next.ServeHTTP(w, r)
	})
}
