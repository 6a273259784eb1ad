package demo

import (
	"regexp"
	"strings"
	"testing"
)

// TestAddress checks that listenNear uses the requested address, or another port if it is taken, and the URL for browsers.
func TestAddress(t *testing.T) {
	for wanted, want := range map[string]string{
		"": "use HOST:PORT, such as 127.0.0.1:10477", "nope": "use HOST:PORT, such as 127.0.0.1:10477", "127.0.0.1:99999": "invalid port",
	} {
		if at, err := listenNear(wanted); err == nil || !strings.HasPrefix(err.Error(), "--web.listen-address="+wanted+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("listenNear(%q) = %v, %v", wanted, at, err)
		}
	}
	for wanted, want := range map[string]string{"127.0.0.1:0": `^http://127\.0\.0\.1:\d+$`, ":0": `^http://localhost:\d+$`, "0.0.0.0:0": `^http://localhost:\d+$`} {
		at, err := listenNear(wanted)
		if err != nil {
			t.Fatal(err)
		}
		defer at.Close()
		if at.taken || !regexp.MustCompile(want).MatchString(at.url()) {
			t.Errorf("listenNear(%q) has the URL %s, want %s", wanted, at.url(), want)
		}
		if beside, err := listenNear(at.Addr().String()); err != nil || !beside.taken {
			t.Errorf("listening on %s again gives %v, want an error", at.Addr(), err)
		} else {
			beside.Close()
		}
	}
}
