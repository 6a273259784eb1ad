package access

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckListen(t *testing.T) {
	a := newAuthority(t)
	tls := a.webConfigWith(t, "}")
	requires := a.webConfigWith(t, ", client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem}")
	offers := a.webConfigWith(t, ", client_auth_type: VerifyClientCertIfGiven, client_ca_file: ca.pem}")
	anyone := a.webConfigWith(t, ", client_auth_type: RequireAnyClientCert}")
	authorities := a.webConfigWith(t, ", client_auth_type: RequireAndVerifyClientCert}")
	passwords := a.webConfigWith(t, "}\nbasic_auth_users: {joe: "+passwordHash+"}")
	nobody := a.webConfigWith(t, "}\nbasic_auth_users: {}")
	misspelt := a.webConfigWith(t, "}\nbasic_auth_user: {joe: "+passwordHash+"}")

	const open = "0.0.0.0:10478"
	for _, test := range []struct {
		address  string
		settings Settings
		want     string // a part of the error, or "" for none
	}{
		{"127.0.0.1:10478", Settings{AnonymousLoopback: true}, ""},
		{"127.8.9.10:0", Settings{AnonymousLoopback: true}, ""},
		{"localhost:10478", Settings{AnonymousLoopback: true}, ""},
		{"LOCALHOST:10478", Settings{AnonymousLoopback: true}, ""},
		{"[::1]:10478", Settings{AnonymousLoopback: true}, ""},
		{"[::ffff:127.0.0.1]:10478", Settings{AnonymousLoopback: true}, ""},

		{"", Settings{AnonymousLoopback: true}, "not host:port"},
		{"127.0.0.1", Settings{AnonymousLoopback: true}, "not host:port"},
		{"::1:10478", Settings{AnonymousLoopback: true}, "not host:port"},
		{":10478", Settings{AnonymousLoopback: true}, "other machines"},
		{open, Settings{AnonymousLoopback: true}, "other machines"},
		{"[::]:10478", Settings{AnonymousLoopback: true}, "other machines"},
		{"[::ffff:0.0.0.0]:10478", Settings{AnonymousLoopback: true}, "other machines"},
		{"10.0.0.1:10478", Settings{AnonymousLoopback: true}, "other machines"},
		{"128.0.0.1:10478", Settings{AnonymousLoopback: true}, "other machines"},
		{"0:10478", Settings{AnonymousLoopback: true}, "other machines"},
		{"127.1:10478", Settings{AnonymousLoopback: true}, "other machines"},
		{"stream.example:10478", Settings{AnonymousLoopback: true}, "other machines"},
		{"localhost.example:10478", Settings{AnonymousLoopback: true}, "other machines"},
		{"127.0.0.1.example:10478", Settings{AnonymousLoopback: true}, "other machines"},
		{open, Settings{AnonymousLoopback: true, TokensFile: "readers"}, "other machines"},
		{open, Settings{AnonymousLoopback: true, ClientCertificates: true, WebConfigFile: offers}, "other machines"},
		{open, Settings{AnonymousLoopback: true, WebConfigFile: tls}, "other machines"},
		{open, Settings{AnonymousLoopback: true, WebConfigFile: offers}, "other machines"},
		{open, Settings{AnonymousLoopback: true, WebConfigFile: anyone}, "other machines"},
		{open, Settings{AnonymousLoopback: true, WebConfigFile: nobody}, "other machines"},

		{open, Settings{AnonymousAnywhere: true}, ""},
		{open, Settings{TokensFile: "readers"}, ""},
		{open, Settings{TokensFile: "readers", WebConfigFile: requires}, ""},
		{open, Settings{ClientCertificates: true, WebConfigFile: requires}, ""},
		{open, Settings{ClientCertificates: true, WebConfigFile: offers}, ""},
		{open, Settings{WebConfigFile: requires}, ""},
		{open, Settings{WebConfigFile: passwords}, ""},
		{open, Settings{AnonymousLoopback: true, WebConfigFile: requires}, ""},
		{open, Settings{AnonymousLoopback: true, WebConfigFile: passwords}, ""},

		{"127.0.0.1:10478", Settings{}, "no way to authenticate"},
		{open, Settings{}, "no way to authenticate"},
		{open, Settings{WebConfigFile: tls}, "no way to authenticate"},
		{open, Settings{WebConfigFile: offers}, "no way to authenticate"},
		{open, Settings{WebConfigFile: nobody}, "no way to authenticate"},
		{open, Settings{ClientCertificates: true}, "clients are not asked"},
		{open, Settings{ClientCertificates: true, WebConfigFile: tls}, "clients are not asked"},
		{open, Settings{ClientCertificates: true, WebConfigFile: anyone}, "clients are not asked"},
		{open, Settings{TokensFile: "readers", WebConfigFile: passwords}, "the Authorization header"},
		{open, Settings{WebConfigFile: authorities}, "every public authority"},
		{open, Settings{TokensFile: "readers", WebConfigFile: misspelt}, "basic_auth_user"},
		{open, Settings{TokensFile: "readers", WebConfigFile: filepath.Join(t.TempDir(), "none")}, "no such file"},
	} {
		err := CheckListen(test.address, test.settings)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q with %+v: %v, want %q", test.address, test.settings, err, test.want)
		}
		if err != nil && test.settings.WebConfigFile == "" && !strings.Contains(err.Error(), "; ") {
			t.Errorf("%q with %+v: %v does not say what to do", test.address, test.settings, err)
		}
	}
	if _, err := New(Settings{WebConfigFile: authorities}); err == nil {
		t.Error("a gate is made where every public authority's certificates would do")
	}
}
