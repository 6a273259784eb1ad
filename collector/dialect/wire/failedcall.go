package wire

import (
	"bytes"
	"slices"
	"strings"
)

// FailedCall returns the index of the call that an error of an ADK agent is about. n calls wait for their response. If other agents may
// work at the same time (isBeside), or n is not 1, the message must name the tool of exactly one call, as a whole word. Otherwise the error is
// about the only call, as an agent that waits for a tool does nothing else. FailedCall returns -1 if it is unknown which call failed.
func FailedCall(n int, isBeside bool, tool func(int) string, message []byte) int {
	if n == 1 && !isBeside {
		return 0
	}
	named := -1
	for i := range n {
		switch {
		case !mentions(message, tool(i)):
		case named >= 0:
			return -1
		default:
			named = i
		}
	}
	return named
}

// MayBeParallel reports whether other agents may run at the same time as one in a branch: the branch is that of a parallel agent's child.
func MayBeParallel(branch string) bool {
	segments := strings.Split(branch, ".")
	return slices.ContainsFunc(segments[:len(segments)-1], func(name string) bool { return !strings.Contains(name, "@") })
}

// mentions reports whether a message contains a name as a whole word.
func mentions(message []byte, name string) bool {
	for name != "" {
		before, after, found := bytes.Cut(message, []byte(name))
		if !found {
			return false
		}
		if !bytes.ContainsAny(before[max(len(before)-1, 0):], wordBytes) && !bytes.ContainsAny(after[:min(len(after), 1)], wordBytes) {
			return true
		}
		message = message[len(before)+1:]
	}
	return false
}

const wordBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
