package dialect

import "github.com/delegraph/delegraph/collector/event"

// OtherKind replaces the name of a kind that is not an identifier, because such a name may be content.
const OtherKind = "_other"

// UnknownKind returns the value of Batch.UnknownKind for a kind that a dialect does not know. Logs and
// labels show it. It is OtherKind unless the name is an identifier.
func UnknownKind(name []byte) string {
	if !event.IsIdentifier(name) {
		return OtherKind
	}
	return string(name)
}
