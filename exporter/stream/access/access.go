// Package access authorizes readers of the external stream and serves it. Every reader needs a
// grant. A grant ends when its token is removed or its certificate expires. A password is checked
// only when a stream begins.
//
// A tokens file has one token per line. A token has at least 22 of the characters A-Z a-z 0-9 . _ ~ + / -
// and at least 128 random bits. It may end in =, and has at most 512 characters with them. In place of a
// token, a line may have sha256: and the 64 hexadecimal digits of the token's hash. After the token,
// name=LABEL names it for limits and logs, and each session=ID, escaped as in a URL path, binds it to a
// session. A # at the start of a word starts a comment. Two lines may have the same name, for example while
// a token is being replaced. Replace the file by renaming a new one into its place: a half-written file is
// read as it is.
package access

import (
	"errors"
	"time"
)

// Settings configure an Authorizer.
type Settings struct {
	TokensFile         string           // with bearer tokens; "" for none
	ClientCertificates bool             // accept certificates signed by the client CA of WebConfigFile
	AnonymousLoopback  bool             // anyone may read through a loopback host name
	AnonymousAnywhere  bool             // anyone may read, at any address and host name
	WebConfigFile      string           // the exporter toolkit's, also passed to Serve; "" for none
	MaxTickets         int              // issued and unused; at least one
	ReportError        func(error)      // called once, from any goroutine, for each change of the tokens file that is rejected; may be nil
	Now                func() time.Time // nil: time.Now
}

// Authorizer grants requests access to the stream. It is safe for concurrent use.
type Authorizer struct {
	tokens           *tokensFile // nil: no bearer tokens
	tickets          *tickets
	certificates     bool
	passwords        bool // the toolkit requires a password
	anonymous        bool
	anonymousAnyHost bool // anonymous readers may address any host
	now              func() time.Time
}

// New returns an Authorizer, or an error if its files cannot be read. CheckListen finds settings
// that contradict each other.
func New(s Settings) (*Authorizer, error) {
	web, err := readWebConfig(s.WebConfigFile)
	if err != nil {
		return nil, err
	}
	g := &Authorizer{
		certificates:     s.ClientCertificates || !s.hasOwnAuthentication() && web.certificates == certificatesRequired,
		passwords:        !s.hasOwnAuthentication() && web.hasPasswords(),
		anonymous:        s.allowsAnonymous(),
		anonymousAnyHost: s.AnonymousAnywhere || web.authenticates(),
		now:              s.Now,
	}
	if g.now == nil {
		g.now = time.Now
	}
	g.tickets = newTickets(g.now, s.MaxTickets)
	if s.TokensFile == "" {
		return g, nil
	}
	g.tokens = &tokensFile{path: s.TokensFile, now: g.now, report: s.ReportError}
	if err := g.tokens.reload(); err != nil {
		return nil, err
	}
	return g, nil
}

// allowsAnonymous reports whether readers without credentials are allowed.
func (s Settings) allowsAnonymous() bool { return s.AnonymousLoopback || s.AnonymousAnywhere }

// hasOwnAuthentication reports whether the settings configure authentication; if not, the
// toolkit's web configuration decides.
func (s Settings) hasOwnAuthentication() bool {
	return s.TokensFile != "" || s.ClientCertificates || s.allowsAnonymous()
}

// Reload rereads the tokens file. If that fails, the current tokens stay in force.
func (g *Authorizer) Reload() error {
	if g.tokens == nil {
		return nil
	}
	return g.tokens.reload()
}

// Warning returns an error that describes risky but valid content or permissions of the tokens file
// as last read, or nil.
func (g *Authorizer) Warning() error {
	if g.tokens == nil {
		return nil
	}
	return g.tokens.warning()
}

// Counts are totals since New.
type Counts struct {
	FailedReloads  uint64 // failed readings of the tokens file; the current tokens stayed in force
	EvictedTickets uint64 // unused tickets that were evicted to make room
}

// Counts returns the totals.
func (g *Authorizer) Counts() Counts {
	c := Counts{EvictedTickets: g.tickets.evicted.Load()}
	if g.tokens != nil {
		c.FailedReloads = g.tokens.failures.Load()
	}
	return c
}

// ErrUnauthorized is the error of every refusal. It is the same for all causes, so that a client
// cannot learn what exists.
var ErrUnauthorized = errors.New("access: no valid bearer token, ticket or client certificate")
