package access

import (
	"crypto/x509"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
)

// Grant says what one reader may read. The zero Grant allows everything: do not make Grants, get
// them from Authorize.
type Grant struct {
	// Token identifies the reader in limits and logs, and is never the secret; "" is an anonymous
	// reader. Tokens with the same name in the tokens file have the same Token.
	Token    string
	Sessions []string // the sessions that may be read; nil: all
	// Valid must be called again while a stream is open. It returns false once the token is removed
	// from the file or bound to other sessions, or once the certificate expires. It stays true after a
	// password, and for anonymous readers.
	Valid func() bool
}

// noGrant allows nothing. It protects callers that ignore the error.
var noGrant = Grant{Sessions: []string{}, Valid: func() bool { return false }}

func alwaysValid() bool { return true }

// Authorize returns the grant for a stream request, or ErrUnauthorized. It uses up the request's
// ticket. A bearer token or ticket that is sent must be valid: a wrong one never falls back to anonymous
// access.
func (g *Authorizer) Authorize(r *http.Request) (Grant, error) {
	token, present := bearerToken(r.Header)
	ticket := r.URL.Query()["ticket"]
	switch {
	case present && len(ticket) > 0 || len(ticket) > 1:
		// RFC 6750 section 2 allows only one way of sending a token; two could name two readers.
		return noGrant, ErrUnauthorized
	case present:
		return g.tokenGrant(token)
	case len(ticket) == 1:
		if token, redeemed := g.tickets.redeem(ticket[0]); redeemed {
			return g.digestGrant(token)
		}
	case g.certificates && hasVerifiedCertificate(r):
		return g.certificateGrant(r.TLS.VerifiedChains[0][0]), nil
	case g.passwords:
		return passwordGrant(r)
	case g.anonymous && (g.anonymousAnyHost || HasLoopbackHost(r)): // a web page could make a visitor's browser read the stream
		return Grant{Valid: alwaysValid}, nil
	}
	return noGrant, ErrUnauthorized
}

// refuse responds to a request without a valid token.
func refuse(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="delegraph"`)
	w.Header().Set("Cache-Control", "no-store")
	http.Error(w, http.StatusText(http.StatusUnauthorized), http.StatusUnauthorized)
}

// bearerToken returns the request's bearer token, which may be empty or malformed. Other schemes
// are handled by the toolkit.
func bearerToken(header http.Header) (token string, present bool) {
	const scheme = "bearer" // case-insensitive: RFC 9110 section 11.1
	values := header["Authorization"]
	if len(values) > 1 {
		return "", true // a proxy may have checked the other one
	}
	if len(values) == 0 || len(values[0]) < len(scheme) || !strings.EqualFold(values[0][:len(scheme)], scheme) {
		return "", false
	}
	token = strings.TrimLeft(values[0][len(scheme):], " ")
	if len(token) == len(values[0])-len(scheme) {
		return "", true // no space between scheme and token
	}
	return token, true
}

func (g *Authorizer) tokenGrant(token string) (Grant, error) {
	if !isWellFormed(token) {
		return noGrant, ErrUnauthorized // do not accept a hashed token that is too weak
	}
	return g.digestGrant(digestOf(token))
}

func (g *Authorizer) digestGrant(d digest) (Grant, error) {
	reader, known := g.tokens.current()[d]
	if !known {
		return noGrant, ErrUnauthorized
	}
	return Grant{Token: reader.name, Sessions: slices.Clone(reader.sessions), Valid: func() bool {
		now, known := g.tokens.current()[d]
		return known && slices.Equal(now.sessions, reader.sessions)
	}}, nil
}

// hasVerifiedCertificate reports whether the toolkit requested a certificate and the client CA has
// signed it. RequireAnyClientCert and RequestClientCert verify nothing and leave the chains empty.
func hasVerifiedCertificate(r *http.Request) bool {
	return r.TLS != nil && len(r.TLS.VerifiedChains) > 0 && len(r.TLS.VerifiedChains[0]) > 0
}

// certificateGrant identifies a certificate by its subject and URIs, since SPIFFE certificates have
// an empty subject.
func (g *Authorizer) certificateGrant(c *x509.Certificate) Grant {
	subject := string(c.RawSubject)
	for _, uri := range c.URIs {
		subject += uri.String()
	}
	return Grant{Token: opaqueName("certificate", subject), Valid: func() bool { return !g.now().After(c.NotAfter) }}
}

// passwordGrant relies on the toolkit, which has already checked the password.
func passwordGrant(r *http.Request) (Grant, error) {
	user, _, present := r.BasicAuth()
	if !present {
		return noGrant, ErrUnauthorized
	}
	return Grant{Token: opaqueName("user", user), Valid: alwaysValid}, nil
}

// opaqueName returns a name for limits and logs that no name in a tokens file can equal.
func opaqueName(kind, identity string) string {
	hash := digestOf(identity)
	return kind + ":" + hex.EncodeToString(hash[:6])
}
