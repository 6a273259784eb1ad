package access

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	const at = "readers:"
	long := strings.Repeat("a", maxToken)
	for _, test := range []struct {
		name, content string
		want          string // the readers, "name[sessions]" by line, or the beginning of the error
	}{
		{"nothing", "", ""},
		{"comments and blank lines", "# readers\n\n \t \n   # indented\n#" + alice, ""},
		{"token", alice, hashed(alice)[:19] + "[]"},
		{"all", alice + " session=b name=x session=a session=b # of the front end", "x[a b]"},
		{"tabs", "\t" + alice + "\t\tname=x\t", "x[]"},
		{"CRLF", alice + " name=x\r\n\r\n# c\r\n" + bob + " name=y\r\n", "x[] y[]"},
		{"BOM", "\ufeff" + alice + " name=x", "x[]"},
		{"hash in capitals", "sha256:" + strings.ToUpper(hashed(alice)[7:]) + " name=x", "x[]"},
		{"one name for two", alice + " name=x\n" + bob + " name=x", "x[] x[]"},
		{"comment without space is part of the id", alice + " name=x session=a#b", "x[a#b]"},
		{"escaped session", alice + " name=x session=a%2Fb%00%0a session==", "x[= a/b\x00\n]"},
		{"as long as may be", long + " name=x", "x[]"},
		{"22 characters", strings.Repeat("a", 22) + "==== name=x", "x[]"},

		{"too long", long + "a", at + "1: the line does not begin with a token"},
		{"too long with padding", long[1:] + "==", at + "1: the line does not begin with a token"},
		{"21 characters", "# c\n" + strings.Repeat("a", 21) + "====", at + "2: the line does not begin with a token"},
		{"padding within", strings.Repeat("a", 22) + "=a", at + "1: the line does not begin with a token"},
		{"padding only", strings.Repeat("=", 40), at + "1: the line does not begin with a token"},
		{"no token", "session=0123456789abcdef0123456789", at + "1: the line does not begin with a token"},
		{"scheme", "Bearer " + alice, at + "1: the line does not begin with a token"},
		{"quotes", `"` + alice + `"`, at + "1: the line does not begin with a token"},
		{"BOM in the middle", alice + "\n\ufeff" + bob, at + "2: the line does not begin with a token"},
		{"UTF-16", "\xff\xfea\x00b\x00", at + "1: the line does not begin with a token"},
		{"binary", "\x7fELF\x02\x01\x01\x00\x00\n", at + "1: the line does not begin with a token"},
		{"NUL behind a token", alice + "\x00", at + "1: the line does not begin with a token"},
		{"CR in the middle", alice + "\r" + bob, at + "1: the line does not begin with a token"},
		{"two CRs", alice + "\r\r\n", at + "1: the line does not begin with a token"},
		{"form feed", alice + "\f\n", at + "1: the line does not begin with a token"},
		{"no-break space", alice + "\u00a0name=x", at + "1: the line does not begin with a token"},
		{"hash too short", hashed(alice)[:70], at + "1: sha256: is not followed by 64"},
		{"hash too long", hashed(alice) + "00", at + "1: sha256: is not followed by 64"},
		{"hash of other digits", "sha256:" + strings.Repeat("g", 64), at + "1: sha256: is not followed by 64"},
		{"two tokens on a line", alice + " " + bob, at + "1: the text after the token is neither"},
		{"output of sha256sum", hashed(alice)[7:] + "  -", at + "1: the text after the token is neither"},
		{"unknown setting", alice + " expires=never", at + "1: the text after the token is neither"},
		{"setting in capitals", alice + " Session=a", at + "1: the text after the token is neither"},
		{"empty session", alice + " session=", at + "1: a session ID is empty"},
		{"no session", alice + " session", at + "1: a session ID is empty"},
		{"session badly escaped", alice + " session=100%", at + "1: a session ID is empty"},
		{"session too long", alice + " session=" + strings.Repeat("s", maxSession+1), at + "1: a session ID is empty, longer"},
		{"too many sessions", alice + strings.Repeat(" session=a", maxSessions+1), at + "1: the token has more than 100"},
		{"empty name", alice + " name=", at + "1: the name does not have"},
		{"name of another form", alice + " name=sha256:00", at + "1: the name does not have"},
		{"name too long", alice + " name=" + strings.Repeat("n", 65), at + "1: the name does not have"},
		{"two names", alice + " name=a name=a", at + "1: the token has two names"},
		{"token twice", alice + " session=a\n" + bob + "\n" + alice + " session=b", at + "3: the token repeats the one on line 1"},
		{"token and its hash", alice + "\n" + hashed(alice), at + "2: the token repeats the one on line 1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			parsed, err := parseTokens("readers", []byte(test.content))
			if err != nil {
				if !strings.HasPrefix(test.want, at) || !strings.HasPrefix(err.Error(), test.want) || !strings.Contains(err.Error(), "; ") {
					t.Errorf("error %q, want %q and a remedy", err, test.want)
				}
				keepsSecrets(t, err, test.content)
				return
			}
			var got []string
			for _, who := range slices.SortedFunc(maps.Values(parsed), func(a, b holder) int { return a.line - b.line }) {
				got = append(got, fmt.Sprintf("%s%s", who.name, who.sessions))
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("parses to %q, want %q", got, test.want)
			}
		})
	}
}

// keepsSecrets fails the test if an error quotes a possible token.
func keepsSecrets(t *testing.T, err error, content string) {
	t.Helper()
	for _, field := range strings.Fields(content) {
		if len(field) >= minToken && strings.Contains(err.Error(), field) {
			t.Errorf("the error %q quotes the file", err)
		}
	}
}

func TestParseLimitsTokens(t *testing.T) {
	var content strings.Builder
	for i := range maxTokens {
		fmt.Fprintf(&content, "token-%022d\n", i)
	}
	if parsed, err := parseTokens("readers", []byte(content.String())); err != nil || len(parsed) != maxTokens {
		t.Fatalf("%d tokens: %v, want all", len(parsed), err)
	}
	content.WriteString(alice)
	if _, err := parseTokens("readers", []byte(content.String())); err == nil || !strings.HasPrefix(err.Error(), "readers:10001: the file has more than 10000") {
		t.Errorf("one token more: %v, want an error", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(file))
	f.Add([]byte("\ufeff# c\r\n\t" + alice + "\tsession=a%20b session=c name=x # d\r\n"))
	f.Add([]byte(alice + "\n" + hashed(alice) + "\n"))
	f.Add([]byte("\xff\xfea\x00\r\nsession=\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		parsed, err := parseTokens("f", content)
		if err != nil {
			keepsSecrets(t, err, string(content))
			return
		}
		if bytes.IndexByte(content, '\r') < 0 {
			again, err := parseTokens("f", bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n")))
			if err != nil || !maps.EqualFunc(parsed, again, equal) {
				t.Errorf("with CRLF it is %v, %v; want %v", again, err, parsed)
			}
		}
		again, err := parseTokens("f", []byte(print(parsed)))
		if err != nil || !maps.EqualFunc(parsed, again, equal) {
			t.Errorf("printed and parsed again it is %v, %v; want %v", again, err, parsed)
		}
	})
}

func equal(a, b holder) bool { return a.name == b.name && slices.Equal(a.sessions, b.sessions) }

// print formats tokens as a file, without the names derived from hashes.
func print(parsed tokens) string {
	var out strings.Builder
	for d, who := range parsed {
		fmt.Fprintf(&out, "sha256:%x", d[:])
		if !strings.HasPrefix(who.name, "sha256:") {
			fmt.Fprintf(&out, " name=%s", who.name)
		}
		for _, session := range who.sessions {
			fmt.Fprintf(&out, " session=%s", url.PathEscape(session))
		}
		out.WriteByte('\n')
	}
	return out.String()
}
