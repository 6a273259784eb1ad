package sidecar

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/internal/settings"
)

// Reloader applies a configuration file to a running service, on request and when the file changes.
type Reloader struct {
	File    string
	service Service
	logger  *slog.Logger

	mu    sync.Mutex
	tried fingerprint // of the content that was last applied or refused
	seen  fingerprint // of the content at the last poll
}

// NewReloader returns a reloader of a service that runs with the given content of the file.
func NewReloader(file string, data []byte, service Service, logger *slog.Logger) *Reloader {
	return &Reloader{File: file, service: service, logger: logger, tried: fingerprintOf(data, nil)}
}

// fingerprint identifies the content of a file, or the reason why it cannot be read.
type fingerprint [sha256.Size]byte

func fingerprintOf(data []byte, err error) fingerprint {
	if err != nil {
		return sha256.Sum256(fmt.Append([]byte("unreadable\x00"), err))
	}
	return sha256.Sum256(data)
}

// rereadable reports whether a file can be read more than once. A pipe, such as a shell's <(…), cannot.
func rereadable(file string) bool {
	info, err := os.Stat(file)
	return err != nil || info.Mode().IsRegular() || info.IsDir()
}

// Reload applies the file. If it returns an error, the configuration has not changed.
func (r *Reloader) Reload() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.apply(r.read())
}

func (r *Reloader) read() ([]byte, error) {
	if !rereadable(r.File) {
		return nil, fmt.Errorf("%s: not a regular file, so it cannot be read again; name one with --config.file and restart delegraph", r.File)
	}
	return settings.Read(r.File)
}

// Poll applies a changed file once two consecutive calls have read the same content, because the first may
// read a partly written file. It compares contents instead of times, because the file may be a link that is
// replaced.
func (r *Reloader) Poll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	data, err := r.read()
	now := fingerprintOf(data, err)
	if settled := now == r.seen; settled && now != r.tried {
		_ = r.apply(data, err) // it logs
	}
	r.seen = now
}

func (r *Reloader) apply(data []byte, err error) error {
	r.tried = fingerprintOf(data, err)
	var c config.Config
	if err == nil {
		c, err = config.Parse(r.File, data, settings.KnownNames())
	}
	if err == nil {
		err = r.service.Configure(c)
	}
	r.service.RecordReload(err == nil, time.Now())
	if err != nil {
		r.logger.Error("reload failed; the configuration stays as it was", "err", err)
		return err
	}
	r.logger.Info("reloaded", "file", r.File)
	return nil
}

// Watch polls at each tick until the context is done.
func (r *Reloader) Watch(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
			r.Poll()
		}
	}
}

// onHangup starts to call do for each SIGHUP, until the context is done. When it returns, the signal no longer
// ends the process, also not while the process drains after the context is done.
func onHangup(ctx context.Context, do func() error) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangup:
				_ = do() // it logs
			}
		}
	}()
}
