package jetstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Limits of a throttledLogger.
const (
	repeatInterval = 10 * time.Minute // between log lines for the same failure
	maxRemembered  = 32               // distinct failures; others are not logged
)

// NATS error codes for exhausted resources.
const (
	consumersFull = 10026 // of a stream
	storageFull   = 10028 // of the account
	storageShort  = 10047 // of the server
)

// throttledLogger logs each distinct failure once, and again after repeatInterval. Most failures are
// retried over and over.
type throttledLogger struct {
	logger *slog.Logger

	mu       sync.Mutex
	loggedAt map[string]time.Time
}

func newThrottledLogger(logger *slog.Logger) *throttledLogger {
	return &throttledLogger{logger: logger, loggedAt: map[string]time.Time{}}
}

func (t *throttledLogger) warn(what string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, now := what+err.Error(), time.Now()
	if at, ok := t.loggedAt[text]; ok && now.Sub(at) < repeatInterval {
		return
	}
	for other, at := range t.loggedAt {
		if now.Sub(at) >= repeatInterval {
			delete(t.loggedAt, other)
		}
	}
	if len(t.loggedAt) >= maxRemembered {
		return
	}
	t.loggedAt[text] = now
	t.logger.Warn("NATS: "+what, "err", err)
}

// reset forgets the failures that were logged, so that the next one of each is logged.
func (t *throttledLogger) reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.loggedAt)
}

var quotedSubject = regexp.MustCompile(`(?i)permissions violation for (publish|subscription) to "([^"]*)"`)

// permissionError says which permission is missing. It removes session names, which are part of
// subjects.
func permissionError(err error) error {
	found := quotedSubject.FindStringSubmatch(err.Error())
	if found == nil {
		return errors.New("this user lacks a permission; the server's log names it; see examples/gateways/nats.yaml")
	}
	subject, doing := found[2], "publish to"
	if strings.EqualFold(found[1], "subscription") {
		doing = "subscribe to"
	}
	if i := strings.Index(subject, prefix); i >= 0 {
		subject = subject[:i] + prefix + ">"
	}
	for _, of := range []string{"$JS.API.CONSUMER.CREATE.", "$JS.API.CONSUMER.DELETE.", "$JS.API.CONSUMER.MSG.NEXT."} {
		if rest, is := strings.CutPrefix(subject, of); is {
			name, _, _ := strings.Cut(rest, ".")
			subject = of + name + ".>"
		}
	}
	if strings.HasPrefix(subject, nats.InboxPrefix) {
		subject = nats.InboxPrefix + ">"
	}
	return fmt.Errorf("this user may not %s %s; grant the permissions listed in examples/gateways/nats.yaml", doing, subject)
}

// withAdvice adds a hint about what to check to an error of NATS.
func withAdvice(err error) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	advice := ""
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked),
		errors.Is(err, nats.ErrAccountAuthExpired), errors.Is(err, nats.ErrNkeysNotSupported):
		advice = "check credentials_file or nkey_file, and the server's users"
	case errors.As(err, &unknown), errors.As(err, &name), errors.As(err, &invalid):
		advice = "check tls.ca_file, and the names in the server's certificate"
	case errors.Is(err, nats.ErrSecureConnWanted), errors.As(err, &record):
		advice = "the server does not use TLS; use nats:// in its URL"
	case errors.Is(err, context.DeadlineExceeded):
		advice = "check the server's log: a missing permission, a full disk or a stream without a leader"
	case errors.Is(err, jetstream.ErrStreamNotFound):
		advice = "a sidecar with manage: true creates the stream"
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, nats.ErrNoResponders):
		advice = "enable JetStream on the servers or for this user's account"
	}
	var refused *jetstream.APIError
	if errors.As(err, &refused) {
		switch refused.ErrorCode {
		case consumersFull:
			advice = "raise max_consumers of the stream or the account; servers allow 1,000 by default"
		case storageFull, storageShort:
			advice = "the server or the account has less storage than max_bytes; lower max_bytes or add storage"
		}
	}
	if advice == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, advice)
}
