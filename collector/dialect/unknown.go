package dialect

// OtherKind stands for a kind whose name is not an identifier and so may be content.
const OtherKind = "_other"

// maxKind is the maximum length of an unknown kind's name, in bytes.
const maxKind = 64

// UnknownKind returns the name of a kind that a dialect does not know, for Batch.UnknownKind. Logs and
// labels show it. It returns OtherKind for a name that is not an identifier of at most 64 letters,
// digits, '.', '_', ':' and '-'.
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
