package dialect

// OtherKind replaces the name of a kind that is not an identifier, because such a name may be content.
const OtherKind = "_other"

// maxKind is the maximum length of an unknown kind's name, in bytes.
const maxKind = 64

// UnknownKind returns the value of Batch.UnknownKind for a kind that a dialect does not know. Logs and
// labels show it. It is OtherKind unless the name is an identifier: 1 to maxKind letters, digits, '.', '_',
// ':' and '-'.
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
