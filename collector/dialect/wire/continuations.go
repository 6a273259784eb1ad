package wire

import "slices"

// Continuations finds the frames that continue a withheld item, such as the result of a call, by the IDs of a stream's items. The zero value is
// ready to use.
type Continuations struct {
	withheld Set[string] // items of withheld frames
	left     Set[string] // items that began in frames that left
}

// Check reports whether a frame is of an item of a withheld frame. If there are more than MaxSet such items, it may be of any item of which
// the beginning did not leave. begun are the items that begin in the frame, and continued those that it continues. isWithheld says that the
// frame is withheld anyway.
func (c *Continuations) Check(begun, continued []string, isWithheld bool) (isOfWithheld bool) {
	isOfWithheld = slices.ContainsFunc(begun, c.withheld.Contains)
	for _, id := range begun {
		if !isWithheld && !isOfWithheld {
			c.left.Add(id)
		}
	}
	isOfWithheld = isOfWithheld || slices.ContainsFunc(continued, c.mayBeWithheld)
	if !isWithheld && !isOfWithheld {
		return false
	}
	for _, id := range begun {
		c.withheld.Add(id)
	}
	for _, id := range continued {
		if !c.left.Contains(id) {
			c.withheld.Add(id)
		}
	}
	return isOfWithheld
}

func (c *Continuations) mayBeWithheld(id string) bool {
	return c.withheld.Contains(id) || c.withheld.IsFull() && !c.left.Contains(id)
}
