package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// passwordHash is the bcrypt hash of "pass".
const passwordHash = "$2a$04$Qli2A0jRdMGaZ5T2JKleo.SEgjlIip1Y.B4TxPdZuCWJ25IrJgi2y"

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pool        *x509.CertPool
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t *testing.T, template, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return certificate
}

func newAuthority(t *testing.T) authority {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	a := authority{key: newKey(t), pool: x509.NewCertPool()}
	a.certificate = sign(t, template, template, a.key, a.key)
	a.pool.AddCert(a.certificate)
	return a
}

// issue signs a certificate for servers on this machine and for clients, valid for an hour unless changed.
func (a authority) issue(t *testing.T, commonName string, change func(*x509.Certificate)) tls.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: commonName},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if change != nil {
		change(template)
	}
	key := newKey(t)
	leaf := sign(t, template, a.certificate, key, a.key)
	return tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key, Leaf: leaf}
}

func spiffe(id string) func(*x509.Certificate) {
	return func(c *x509.Certificate) {
		c.Subject, c.URIs = pkix.Name{}, []*url.URL{{Scheme: "spiffe", Host: "cluster.local", Path: id}}
	}
}

// webConfigWith writes a web configuration with a server certificate of the authority and additional lines.
func (a authority) webConfigWith(t *testing.T, more string) string {
	t.Helper()
	dir := t.TempDir()
	server := a.issue(t, "server", nil)
	key, err := x509.MarshalECPrivateKey(server.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{
		"cert.pem": {Type: "CERTIFICATE", Bytes: server.Leaf.Raw},
		"key.pem":  {Type: "EC PRIVATE KEY", Bytes: key},
		"ca.pem":   {Type: "CERTIFICATE", Bytes: a.certificate.Raw},
	} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "web.yml")
	write(t, path, fmt.Sprintf("tls_server_config: {cert_file: cert.pem, key_file: key.pem%s\n", more))
	return path
}
