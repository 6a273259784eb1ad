package demo

import (
	"regexp"
	"strings"
	"testing"
)

// TestAddress listens where it was told to, or beside that and says so, and prints where a browser finds it.
func TestAddress(t *testing.T) {
	for wanted, want := range map[string]string{
		"": "use HOST:PORT, such as 127.0.0.1:10477", "nope": "use HOST:PORT, such as 127.0.0.1:10477", "127.0.0.1:99999": "invalid port",
	} {
		if at, err := listenNear(wanted); err == nil || !strings.HasPrefix(err.Error(), "--web.listen-address="+wanted+": ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v", wanted, at, err)
		}
	}
	for wanted, want := range map[string]string{"127.0.0.1:0": `^http://127\.0\.0\.1:\d+$`, ":0": `^http://localhost:\d+$`, "0.0.0.0:0": `^http://localhost:\d+$`} {
		at, err := listenNear(wanted)
		if err != nil {
			t.Fatal(err)
		}
		defer at.Close()
		if at.taken || !regexp.MustCompile(want).MatchString(at.url()) {
			t.Errorf("%q: %s", wanted, at.url())
		}
		if beside, err := listenNear(at.Addr().String()); err != nil || !beside.taken {
			t.Errorf("%s is given away: %v", at.Addr(), err)
		} else {
			beside.Close()
		}
	}
}
