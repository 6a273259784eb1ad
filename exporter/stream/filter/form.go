package filter

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"time"
	"unicode"

	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// scalar appends a number, a boolean or null as it is, and a string by calling text.
func scalar(dst []byte, v strictjson.Value, form event.Form) ([]byte, bool) {
	switch v.Kind() {
	case strictjson.String:
		return text(dst, v, form)
	case strictjson.Number, strictjson.Bool, strictjson.Null:
		return append(dst, v.Raw()...), true
	}
	return dst, false
}

// text appends a string that has the form. Otherwise it may append something in its place: a URL without user and password,
// a hash of a long id, or "unknown" for a tool.
func text(dst []byte, v strictjson.Value, form event.Form) ([]byte, bool) {
	s := v.Text()
	if form == event.FormURL {
		if url := withoutControls(s); userInfo.Match(url) {
			return strictjson.AppendQuoted(dst, userInfo.ReplaceAll(url, []byte("$1"))), true
		}
	}
	switch {
	case hasForm(form, s):
		return v.AppendQuoted(dst), true
	case form == event.FormID && len(s) > event.MaxName && isName(s):
		sum := sha256.Sum256(s)
		return strictjson.AppendQuoted(dst, "sha256-"+hex.EncodeToString(sum[:16])), true
	case form == event.FormTool:
		return append(dst, `"unknown"`...), true
	}
	return dst, false
}

// hasForm reports whether text has the given form.
func hasForm(form event.Form, text []byte) bool {
	switch form {
	case event.FormName, event.FormID:
		return len(text) <= event.MaxName && isName(text)
	case event.FormTool:
		return len(text) <= event.MaxTool && toolPattern.Match(text) && !hasUserInfo(text)
	case event.FormText, event.FormURL:
		return true
	case event.FormTime:
		_, err := time.Parse(time.RFC3339, string(text))
		return err == nil
	case event.FormCode:
		return len(text) <= event.MaxCode && codePattern.Match(text)
	case event.FormMedia:
		return len(text) <= event.MaxName && mediaPattern.Match(text)
	}
	return false
}

// isName reports whether a text of any length may be a name or an ID.
func isName(text []byte) bool {
	return !hasControl(text) && !lenient.IsPrintedObject(text) && !hasUserInfo(text)
}

// hasUserInfo reports whether a text is a URL with a user or a password, or contains one.
func hasUserInfo(text []byte) bool {
	return bytes.IndexByte(text, '@') >= 0 && (userInfo.Match(text) || innerUserInfo.Match(text))
}

var (
	// codePattern matches a string of FormCode.
	codePattern = regexp.MustCompile(`^(?:[a-z][a-z0-9_-]*:)*(?:[A-Za-z_][A-Za-z0-9_.]*|[a-z]+(?:-[a-z]+)+)$`)

	// toolPattern matches a string of FormTool. Some frameworks have tools such as "Read a file's content" (CrewAI).
	toolPattern = regexp.MustCompile(`^[\pL\pM\pN _.:/@#|~+$&*'-]*$`)

	// mediaPattern matches a string of FormMedia (RFC 9110, section 8.3.1). The AI SDK also allows a type without a subtype.
	mediaPattern = regexp.MustCompile(`^[\w!#$&^.+*-]+(?:/[\w!#$&^.+*-]+)?(?:[ \t]*;[ \t]*[\w.+-]+=(?:[\w!#$&^.+:/-]+|"[\w!#$&^.+:/ -]*"))*$`)

	// userInfo matches the beginning of a URL with a user or a password, as browsers read it: they take "\" for "/", and need no slashes
	// after some schemes (https://url.spec.whatwg.org/#scheme-state).
	userInfo = regexp.MustCompile(`^( *(?:(?i:https?|ftp|wss?):[/\\]*|(?:[A-Za-z][\w+.-]*:)?[/\\]{2,}))[^/\\?#]*@`)

	// innerUserInfo matches a URL with a user or a password inside a text. It does not match a name such as root//agent@1.
	innerUserInfo = regexp.MustCompile(`:[/\\]{2,}[^/\\?#]+@`)
)

// hasControl reports whether text has a Unicode control character.
func hasControl(text []byte) bool {
	for _, c := range text {
		if c < ' ' || c >= 0x7f {
			return bytes.ContainsFunc(text, unicode.IsControl)
		}
	}
	return false
}

// withoutControls returns text without control characters. Browsers ignore some of them in URLs.
func withoutControls(text []byte) []byte {
	if !hasControl(text) {
		return text
	}
	return bytes.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
}
