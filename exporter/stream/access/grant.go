package access

import (
	"crypto/x509"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
)

// Grant is what one reader may read. The zero Grant reads everything: make none, take them from Authorize.
type Grant struct {
	// Token names for limits and logs whom the grant was given to, and is never the secret; "" is anyone. Tokens that the
	// file gives one name have one Token.
	Token    string
	Sessions []string // that may be read; nil: all
	// Valid is to be asked again while a stream is open: false once the token has left the file or is bound to other sessions,
	// or the certificate has expired.
	Valid func() bool
}

// Allows says whether the grant reads the session; "" is what belongs to none, which is for those who read all.
func (g Grant) Allows(session string) bool {
	return g.Sessions == nil || slices.Contains(g.Sessions, session)
}

// refused is for callers that overlook the error.
var refused = Grant{Sessions: []string{}, Valid: func() bool { return false }}

func always() bool { return true }

// Authorize gives the grant of a request for a stream, or ErrUnauthorized. It uses up the request's ticket. What a request
// shows must be right: a wrong token never falls back to what the request would get without it.
func (g *Gate) Authorize(r *http.Request) (Grant, error) {
	token, shown := bearer(r.Header)
	ticket := r.URL.Query()["ticket"]
	switch {
	case shown && len(ticket) > 0 || len(ticket) > 1:
		// RFC 6750 section 2 allows one way of showing a token; two could mean two readers.
		return refused, ErrUnauthorized
	case shown:
		return g.ofToken(token)
	case len(ticket) == 1:
		return g.ofTicket(ticket[0])
	case g.certificates && verified(r):
		return g.ofCertificate(r.TLS.VerifiedChains[0][0]), nil
	case g.passwords:
		return ofPassword(r)
	case g.anonymous && g.mayBeAnonymous(r):
		return Grant{Valid: always}, nil
	}
	return refused, ErrUnauthorized
}

// Refuse answers a request that Authorize refused, or whose grant does not allow the session that it asks for: both, and
// a session that does not exist, look the same.
func Refuse(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="delegraph"`)
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, http.StatusText(http.StatusUnauthorized), http.StatusUnauthorized)
}

// bearer finds what a request shows as its bearer token, which may be "" or nonsense. Other schemes are the toolkit's.
func bearer(header http.Header) (token string, shown bool) {
	const scheme = "bearer" // in any case: RFC 9110 section 11.1
	values := header["Authorization"]
	if len(values) > 1 {
		return "", true // whoever stands in front may have judged the other one
	}
	if len(values) == 0 || len(values[0]) < len(scheme) || !strings.EqualFold(values[0][:len(scheme)], scheme) {
		return "", false
	}
	token = strings.TrimLeft(values[0][len(scheme):], " ")
	if len(token) == len(values[0])-len(scheme) {
		return "", true // no space in between
	}
	return token, true
}

func (g *Gate) ofToken(token string) (Grant, error) {
	if !wellFormed(token) {
		return refused, ErrUnauthorized // a guessable word that an operator has hashed is no token either
	}
	return g.ofDigest(digestOf(token))
}

func (g *Gate) ofDigest(d digest) (Grant, error) {
	given, known := g.tokens.current()[d]
	if !known {
		return refused, ErrUnauthorized
	}
	return Grant{Token: given.name, Sessions: slices.Clone(given.sessions), Valid: func() bool {
		now, known := g.tokens.current()[d]
		return known && slices.Equal(now.sessions, given.sessions)
	}}, nil
}

func (g *Gate) ofTicket(ticket string) (Grant, error) {
	token, redeemed := g.tickets.redeem(ticket)
	if !redeemed {
		return refused, ErrUnauthorized
	}
	return g.ofDigest(token)
}

// verified says whether the toolkit asked for a certificate and its client CA has signed it; RequireAnyClientCert and
// RequestClientCert verify nothing, and leave the chains empty.
func verified(r *http.Request) bool {
	return r.TLS != nil && len(r.TLS.VerifiedChains) > 0 && len(r.TLS.VerifiedChains[0]) > 0
}

// ofCertificate counts URIs to the subject, since SPIFFE certificates have an empty one.
func (g *Gate) ofCertificate(c *x509.Certificate) Grant {
	subject := string(c.RawSubject)
	for _, uri := range c.URIs {
		subject += uri.String()
	}
	return Grant{Token: opaque("certificate", subject), Valid: func() bool { return !g.now().After(c.NotAfter) }}
}

// ofPassword relies on the toolkit, which has compared the password before the request came here.
func ofPassword(r *http.Request) (Grant, error) {
	user, _, shown := r.BasicAuth()
	if !shown {
		return refused, ErrUnauthorized
	}
	return Grant{Token: opaque("user", user), Valid: always}, nil
}

// mayBeAnonymous keeps a web page out that would have its visitors' browsers read the stream for it.
func (g *Gate) mayBeAnonymous(r *http.Request) bool { return g.anyHost || AsksLoopback(r) }

// opaque names someone by what they are called, in a form that no name in a tokens file has.
func opaque(kind, called string) string {
	hash := digestOf(called)
	return kind + ":" + hex.EncodeToString(hash[:6])
}
