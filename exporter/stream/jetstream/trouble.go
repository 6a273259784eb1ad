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

// How often the log hears of the same, and of how many different things at once.
const (
	saidAgain = 10 * time.Minute
	maxSaid   = 32
)

// Errors of NATS's where there is no more of something.
const (
	consumersFull = 10026 // of a stream
	storageFull   = 10028 // of the account
	storageShort  = 10047 // of the server
)

// troubles tell the log what fails: each thing once, and again where it still does after a while. Most of it is tried again and again.
type troubles struct {
	logger *slog.Logger

	mu   sync.Mutex
	said map[string]time.Time
}

func newTroubles(logger *slog.Logger) *troubles {
	return &troubles{logger: logger, said: map[string]time.Time{}}
}

func (t *troubles) say(what string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, now := what+err.Error(), time.Now()
	if at, ok := t.said[text]; ok && now.Sub(at) < saidAgain {
		return
	}
	for other, at := range t.said {
		if now.Sub(at) >= saidAgain {
			delete(t.said, other)
		}
	}
	if len(t.said) >= maxSaid {
		return
	}
	t.said[text] = now
	t.logger.Warn("NATS: "+what, "err", err)
}

// over has everything said again when it next happens.
func (t *troubles) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.said)
}

var quotedSubject = regexp.MustCompile(`(?i)permissions violation for (publish|subscription) to "([^"]*)"`)

// notAllowed says what NATS does not let us do. Sessions' names, which are in subjects, stay out of it.
func notAllowed(err error) error {
	found := quotedSubject.FindStringSubmatch(err.Error())
	if found == nil {
		return errors.New("this user lacks a right, the server's log says which; see docs/how-to/kubernetes.md, Gateways")
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
	return fmt.Errorf("this user may not %s %s: give it the rights of docs/how-to/kubernetes.md, Gateways", doing, subject)
}

// advised adds to an error of NATS's what to look at.
func advised(err error) error {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	advice := ""
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked),
		errors.Is(err, nats.ErrAccountAuthExpired), errors.Is(err, nats.ErrNkeysNotSupported):
		advice = "look at credentials_file or nkey_file, and at the users that the server knows"
	case errors.As(err, &unknown), errors.As(err, &name), errors.As(err, &invalid):
		advice = "look at tls.ca_file, and at the names in the server's certificate"
	case errors.Is(err, nats.ErrSecureConnWanted), errors.As(err, &record):
		advice = "the server has no TLS: use nats:// for it"
	case errors.Is(err, context.DeadlineExceeded):
		advice = "the server's log may say why: a right that this user lacks, a full disk, a stream without a leader"
	case errors.Is(err, jetstream.ErrStreamNotFound):
		advice = "a sidecar with manage: true makes the stream"
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount), errors.Is(err, nats.ErrNoResponders):
		advice = "the servers, or this user's account, need JetStream turned on"
	}
	var refused *jetstream.APIError
	if errors.As(err, &refused) {
		switch refused.ErrorCode {
		case consumersFull:
			advice = "raise max_consumers of the stream, or of the account; the servers allow 1,000 where neither says a number"
		case storageFull, storageShort:
			advice = "the server or the account has less room than max_bytes asks for: lower it, or give them more"
		}
	}
	if advice == "" {
		return err
	}
	return fmt.Errorf("%w: %s", err, advice)
}
