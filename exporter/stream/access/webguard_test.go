package access

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

// TestWebConfigWeakens changes the toolkit's file while it is served. What the file demanded at the start stays demanded.
func TestWebConfigWeakens(t *testing.T) {
	a := newAuthority(t)
	for name, test := range map[string]struct {
		settings Settings
		before   string   // what follows the certificates in the file
		after    []string // contents that demand less; "" is an empty file
	}{
		"passwords": {
			Settings{}, "}\nbasic_auth_users: {joe: " + passwordHash + "}",
			[]string{"}\n", "}\nbasic_auth_users: {}\n", "broken", ""},
		},
		"passwords, loopback": {Settings{AnonymousLoopback: true}, "}\nbasic_auth_users: {joe: " + passwordHash + "}", []string{"}\n", ""}},
		"certificates": {
			Settings{AnonymousLoopback: true}, ", client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem}",
			[]string{"}\n", ", client_auth_type: VerifyClientCertIfGiven, client_ca_file: ca.pem}"},
		},
		"certificates beside tokens": {
			Settings{TokensFile: tokensAt(t, file)}, ", client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem}", []string{"}\n"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := a.webConfigWith(t, test.before)
			good, err := os.ReadFile(config)
			if err != nil {
				t.Fatal(err)
			}
			var reported []string
			test.settings.WebConfigFile = config
			test.settings.ReportWebConfig = func(err error) { reported = append(reported, err.Error()) }
			gate := newGate(t, test.settings)
			request := streamRequest("/events")
			request.TLS = &tls.ConnectionState{}
			for _, content := range test.after {
				if content != "" {
					content = strings.Replace(string(good), test.before, content, 1)
				}
				if err := os.WriteFile(config, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				if request.SetBasicAuth("joe", "wrong"); test.settings.TokensFile != "" { // the toolkit does not check it now
					request.Header.Set("Authorization", "Bearer "+alice)
				} else if strings.Contains(test.before, "client_auth_type") {
					request.Header.Del("Authorization")
				}
				for range 2 {
					if _, err := gate.Authorize(request); err == nil {
						t.Errorf("a reader without credentials is let in after the file became %q", content)
					}
				}
			}
			if passwords := strings.Contains(test.before, "basic_auth_users"); passwords && len(reported) < 1 || len(reported) > len(test.after) {
				t.Errorf("reported: %q", reported)
			}
		})
	}
}

// TestWebGuardOfAnotherContent checks that users may change, and that only the first request after a change is refused.
func TestWebGuardOfAnotherContent(t *testing.T) {
	a := newAuthority(t)
	config := a.webConfigWith(t, "}\nbasic_auth_users: {joe: "+passwordHash+"}")
	guard, err := NewWebGuard(config, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	h := guard.Handler(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	status := func() int {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		return w.Code
	}
	if got := status(); got != http.StatusOK {
		t.Fatal(got)
	}
	content, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(config, []byte(strings.Replace(string(content), "joe", "jane", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(config, time.Time{}, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if first, next := status(), status(); first != http.StatusServiceUnavailable || next != http.StatusOK {
		t.Errorf("after a change the answers are %d and %d, want 503 and 200", first, next)
	}
}
