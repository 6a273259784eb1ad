package wire

import "slices"

const (
	maxAuthors = 8 // of one text

	// UnknownAuthor is an author that no setting can list.
	UnknownAuthor = ""
)

// AddAuthor adds an author to those of a text. Of more than eight, the others count as UnknownAuthor.
func AddAuthor(known []string, name string) []string {
	if len(known) >= maxAuthors {
		name = UnknownAuthor
	}
	if slices.Contains(known, name) {
		return known
	}
	return append(known, name)
}
