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

// Limits of a connection. Responses have no time limit: a stream sets a deadline for each write.
const (
	headerTimeout     = 5 * time.Second
	bodyTimeout       = 5 * time.Second
	idleTimeout       = time.Minute
	http2WriteTimeout = 10 * time.Second // of a write without progress
	maxHeaderBytes    = 16 << 10         // bytes
	sendBuffer        = 64 << 10         // bytes
)

// Shutdown configures how Serve ends.
type Shutdown struct {
	Drain func(context.Context) // must end the open streams before its context is done, and refuse new ones; may be nil
	Grace time.Duration         // for Drain and the remaining responses; connections are closed after it
}

// Serve serves h on the listener, configured by the exporter toolkit's web configuration file (""
// for plain HTTP), until the context is done, and then shuts down. It closes the listener.
func Serve(
	ctx context.Context, l net.Listener, h http.Handler, webConfigFile string, shutdown Shutdown, logger *slog.Logger,
) error {
	defer l.Close()
	guard, err := NewWebGuard(webConfigFile, func(err error) { logger.Error("readers are refused", "err", err) })
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           guard.Handler(boundBodyRead(h)),
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		// A write deadline only ends one HTTP/2 stream, not a connection that is stuck.
		HTTP2: &http.HTTP2Config{WriteByteTimeout: http2WriteTimeout},
		// It would log names from failed handshakes and the values of panics.
		ErrorLog: log.New(io.Discard, "", 0),
	}
	defer server.Close()
	served := make(chan error, 1)
	go func() {
		served <- toolkit.Serve(smallSendBuffer{l}, server, &toolkit.FlagConfig{WebConfigFile: &webConfigFile}, logger)
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
	_ = server.Shutdown(within) // a timeout is no error: server.Close closes what is still open
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// smallSendBuffer gives connections a small send buffer: the kernel would otherwise accept
// megabytes for a subscriber that reads nothing, and hide that it is slow. It wraps the listener
// below TLS, where the socket is.
type smallSendBuffer struct{ net.Listener }

func (b smallSendBuffer) Accept() (net.Conn, error) {
	conn, err := b.Listener.Accept()
	if buffered, ok := conn.(interface{ SetWriteBuffer(int) error }); ok {
		// On error the connection is broken, and its first write fails too.
		_ = buffered.SetWriteBuffer(sendBuffer)
	}
	return conn, err
}

// boundBodyRead limits the time for reading a request's body. No handler here reads it, but the
// server then does, without a time limit.
func boundBodyRead(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body != http.NoBody {
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(bodyTimeout))
		}
		next.ServeHTTP(w, r)
	})
}
