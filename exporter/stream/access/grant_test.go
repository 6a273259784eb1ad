package access

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"testing"
	"time"
)

func TestClientCertificates(t *testing.T) {
	a, others := newAuthority(t), newAuthority(t)
	readers := tokensAt(t, file)
	const (
		requires = ", client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem}"
		offers   = ", client_auth_type: VerifyClientCertIfGiven, client_ca_file: ca.pem}"
		anyone   = ", client_auth_type: RequireAnyClientCert}"
		refusal  = "401 Unauthorized"
		noAnswer = "no answer"
	)
	client := a.issue(t, "client", nil)
	clientName := fmt.Sprintf("%q", opaqueName("certificate", string(client.Leaf.RawSubject)))
	service := a.issue(t, "", spiffe("/ns/a/sa/b"))
	serviceName := fmt.Sprintf("%q", opaqueName("certificate", string(service.Leaf.RawSubject)+"spiffe://cluster.local/ns/a/sa/b"))
	expired := a.issue(t, "expired", func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
	forServers := a.issue(t, "server only", func(c *x509.Certificate) { c.ExtKeyUsage = c.ExtKeyUsage[:1] })
	for _, test := range []struct {
		name, config string
		settings     Settings
		shown        []tls.Certificate
		bearer       string
		want         string
	}{
		{"right", requires, Settings{ClientCertificates: true}, []tls.Certificate{client}, "", clientName},
		{"right, as the toolkit alone asks", requires, Settings{}, []tls.Certificate{client}, "", clientName},
		{"right, where one may be given", offers, Settings{ClientCertificates: true}, []tls.Certificate{client}, "", clientName},
		{"of a service without a subject", requires, Settings{ClientCertificates: true}, []tls.Certificate{service}, "", serviceName},
		{"none", requires, Settings{ClientCertificates: true}, nil, "", noAnswer},
		{"none, where one may be given", offers, Settings{ClientCertificates: true}, nil, "", refusal},
		{"expired", requires, Settings{ClientCertificates: true}, []tls.Certificate{expired}, "", noAnswer},
		{"not for clients", requires, Settings{ClientCertificates: true}, []tls.Certificate{forServers}, "", noAnswer},
		{"nobody asks", "}", Settings{ClientCertificates: true}, []tls.Certificate{client}, "", refusal},
		{"nobody verifies", anyone, Settings{ClientCertificates: true}, []tls.Certificate{client}, "", refusal},
		{"nobody verifies another's", anyone, Settings{ClientCertificates: true}, []tls.Certificate{others.issue(t, "client", nil)}, "", refusal},
		{"not enough where tokens are asked for", requires, Settings{TokensFile: readers}, []tls.Certificate{client}, "", refusal},
		{"and a token where both are", requires, Settings{TokensFile: readers}, []tls.Certificate{client}, alice, `"alice"`},
		{"or a token", offers, Settings{ClientCertificates: true, TokensFile: readers}, nil, alice, `"alice"`},
		{"with a token", offers, Settings{ClientCertificates: true, TokensFile: readers}, []tls.Certificate{client}, bob, `"bob"`},
		{"with a wrong token", offers, Settings{ClientCertificates: true, TokensFile: readers}, []tls.Certificate{client}, "wrong", refusal},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.settings.WebConfigFile = a.webConfigWith(t, test.config)
			l := listen(t)
			serve(t, l, whoReads(newGate(t, test.settings)), test.settings.WebConfigFile, Shutdown{Grace: time.Minute})
			got := ask(clientOf(t, a, test.shown...), "https://"+l.Addr().String()+"/events", "", "", test.bearer)
			if got != test.want {
				t.Errorf("answers %s, want %s", got, test.want)
			}
		})
	}
}

func TestAnothersCertificate(t *testing.T) {
	a, others := newAuthority(t), newAuthority(t)
	config := a.webConfigWith(t, ", client_auth_type: VerifyClientCertIfGiven, client_ca_file: ca.pem}")
	l := listen(t)
	serve(t, l, whoReads(newGate(t, Settings{ClientCertificates: true, WebConfigFile: config})), config, Shutdown{Grace: time.Minute})
	another := others.issue(t, "client", nil)
	client := clientOf(t, a)
	// A well-behaved client would not present a certificate that the server did not request.
	client.Transport.(*http.Transport).TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return &another, nil
	}
	if got := ask(client, "https://"+l.Addr().String()+"/events", "", "", ""); got != "no answer" {
		t.Errorf("answers %s, want none", got)
	}
}

func TestCertificateExpiresWhileOpen(t *testing.T) {
	clock := newClock()
	g := newGate(t, Settings{ClientCertificates: true, Now: clock.Now})
	end := clock.Now().Add(time.Minute)
	r := streamRequest("/events")
	r.TLS = &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{{NotAfter: end}}}}
	grant, err := g.Authorize(r)
	if err != nil {
		t.Fatal(err)
	}
	clock.advance(time.Minute)
	if !grant.Valid() {
		t.Error("the grant ends before the certificate")
	}
	clock.advance(time.Second)
	if grant.Valid() {
		t.Error("the grant outlives the certificate")
	}
	r.TLS.VerifiedChains = [][]*x509.Certificate{{}}
	if _, err := g.Authorize(r); err == nil {
		t.Error("an empty chain is taken for a certificate")
	}
}

func TestPasswords(t *testing.T) {
	a := newAuthority(t)
	config := a.webConfigWith(t, "}\nbasic_auth_users: {joe: "+passwordHash+"}")
	l := listen(t)
	serve(t, l, whoReads(newGate(t, Settings{WebConfigFile: config})), config, Shutdown{Grace: time.Minute})
	for _, test := range []struct{ user, password, want string }{
		{"joe", "pass", fmt.Sprintf("%q", opaqueName("user", "joe"))},
		{"joe", "wrong", "401 Unauthorized"},
		{"jane", "pass", "401 Unauthorized"},
		{"", "", "401 Unauthorized"},
	} {
		if got := ask(clientOf(t, a), "https://"+l.Addr().String()+"/events", test.user, test.password, ""); got != test.want {
			t.Errorf("%s with %s: %s, want %s", test.user, test.password, got, test.want)
		}
	}
	if _, err := newGate(t, Settings{WebConfigFile: config}).Authorize(streamRequest("/events")); err == nil {
		t.Error("a request that the toolkit cannot have let pass is granted")
	}
}
