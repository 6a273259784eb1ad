package dialect

// OtherKind stands for a kind whose name is no identifier, and might be anything.
const OtherKind = "_other"

// maxKind bounds the name of a kind that a dialect does not know, in bytes.
const maxKind = 64

// UnknownKind returns the name of a kind that a dialect does not know, for Batch.Unknown. Logs and labels show it, so a text that is no
// identifier of at most 64 letters, digits and . _ : - is OtherKind: it might be content.
func UnknownKind(name []byte) string {
	if len(name) == 0 || len(name) > maxKind {
		return OtherKind
	}
	for _, c := range name {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == ':', c == '-':
		default:
			return OtherKind
		}
	}
	return string(name)
}
