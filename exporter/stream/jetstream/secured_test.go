package jetstream

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// An nkey for tests: its seed and its public key.
const (
	nkeySeed = "SUACFT5ROLVK5LQ62PLLQ5MOFFZE2IW4U5T74QEY4QNCFSOWBVAGSB43M4"
	nkeyUser = "UBWOGHF2ROXX4J2R3HB5XAE2NPVZ4FXJJI5CPLCWQEYVY6SAITVJ4KIE"
)

// TestSecured connects to a server that requires TLS, a client certificate and an nkey. Without one of them, the
// connection must fail.
func TestSecured(t *testing.T) {
	folder := t.TempDir()
	certificate, key := selfSigned(t, folder)
	seed := filepath.Join(folder, "seed")
	if err := os.WriteFile(seed, []byte(nkeySeed+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, fmt.Sprintf("tls { cert_file: %q, key_file: %q, ca_file: %q, verify: true }\nauthorization { users: [ { nkey: %s } ] }",
		certificate, key, certificate, nkeyUser))
	allowed := func(set *Settings) {
		set.URLs = []string{strings.Replace(s.url(), "nats:", "tls:", 1)}
		set.CAFile, set.CertFile, set.KeyFile, set.NKeyFile = certificate, certificate, key, seed
	}
	store, _ := s.open(allowed)
	reader := attach(t, store, "", "c1")
	publishAll(t, store, "c1", 0, 1)
	reader.wants("c1-0")
	for name, without := range map[string]func(*Settings){
		"whom to trust": func(set *Settings) { set.CAFile = "" },
		"certificate":   func(set *Settings) { set.CertFile, set.KeyFile = "", "" },
		"key":           func(set *Settings) { set.NKeyFile = "" },
	} {
		set := s.settings(&tally{})
		allowed(&set)
		without(&set)
		stranger, err := Open(set) // keeps trying, because the error may be the server's
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond) // time for the server to refuse the connection
		if stranger.Connected() || stranger.Ready() == nil {
			t.Errorf("the server accepts a connection without a %s", name)
		}
		_ = stranger.Close(t.Context())
	}
	for name, missing := range map[string]func(*Settings){
		"CA":          func(set *Settings) { set.CAFile = "nosuch" },
		"certificate": func(set *Settings) { set.CertFile = "nosuch" },
		"nkey":        func(set *Settings) { set.NKeyFile = "nosuch" },
		"credentials": func(set *Settings) { set.NKeyFile, set.CredentialsFile = "", "nosuch" },
	} {
		set := s.settings(&tally{})
		allowed(&set)
		missing(&set)
		if opened, err := Open(set); err == nil {
			t.Errorf("Open succeeds without the file of the %s", name)
			_ = opened.Close(t.Context())
		}
	}
}

// selfSigned writes a certificate for client and server, and its key.
func selfSigned(t *testing.T, folder string) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, der []byte) string {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", secret)
}
