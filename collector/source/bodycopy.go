package source

import (
	"errors"
	"io"

	"github.com/delegraph/delegraph/collector/budget"
)

// bodyCopy is a copy of the beginning of a body. It grows with what arrives, because a peer may announce a large body and stop.
type bodyCopy struct {
	limit  int             // maximum bytes
	memory *budget.Account // pays for the copy
	data   []byte
}

// minCopy is the initial capacity of a copy in bytes.
const minCopy = 512

// grow makes room for n more bytes within the limit. It reports false, and changes nothing, if the memory budget has none.
func (c *bodyCopy) grow(n int) bool {
	size := len(c.data) + n
	if size <= cap(c.data) {
		return true
	}
	grown := min(max(size, 2*cap(c.data), minCopy), c.limit)
	if !c.memory.Reserve(grown) {
		return false
	}
	c.memory.Release(cap(c.data))
	c.data = append(make([]byte, 0, grown), c.data...)
	return true
}

// errNoMemory says that the memory budget had no room.
var errNoMemory = errors.New("the memory budget has no room")

// readFrom reads up to the end of r or the limit. It returns errNoMemory if the budget has no room for more. Then r still has the rest.
func (c *bodyCopy) readFrom(r io.Reader) error {
	for len(c.data) < c.limit {
		if !c.grow(1) {
			return errNoMemory
		}
		n, err := r.Read(c.data[len(c.data):cap(c.data)])
		c.data = c.data[:len(c.data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// release frees the copy.
func (c *bodyCopy) release() {
	c.memory.Release(cap(c.data))
	c.data = nil
}
