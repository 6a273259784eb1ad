package picture

import (
	"cmp"
	"slices"
)

// node is one of the graph, at a place.
type node struct {
	name   string
	layer  int     // how far it is from those whom nobody calls; below 0: not known yet
	in     float64 // how often it was called
	x, y   float64
	radius float64
	crowd  bool // little room to the next one
}

// graph draws the edges that an answer names by source and target: from left to right, beginning with those whom nobody calls.
func (a answered) graph(c *canvas, place box) {
	nodes := a.layered()
	deepest := slices.MaxFunc(nodes, func(x, y *node) int { return x.layer - y.layer }).layer
	inside := place.inset(185, 6, 130, 6)
	for layer := range deepest + 1 {
		var members []*node
		for _, n := range nodes {
			if n.layer == layer {
				members = append(members, n)
			}
		}
		room := inside.h / float64(len(members))
		for i, n := range members {
			n.x = inside.x + inside.w*float64(layer)/float64(max(1, deepest))
			n.y = inside.y + room*(float64(i)+0.5)
			n.radius, n.crowd = min(15, room*0.45), room < 50
		}
	}
	callers := map[string]int{}
	for _, s := range a.series {
		callers[s.Labels["target"]]++
		edge(c, find(nodes, s.Labels["source"]), find(nodes, s.Labels["target"]))
	}
	for i, s := range a.series {
		if callers[s.Labels["target"]] > 1 { // else it is the number in the circle
			at := 0.5 + 0.07*float64(i%6) // of the curve, as a Bézier has it: not all upon each other
			howOften(c, find(nodes, s.Labels["source"]), find(nodes, s.Labels["target"]), at, format(s.Last(), "short"))
		}
	}
	for _, n := range nodes {
		c.add(`<circle cx="%s" cy="%s" r="%s" fill="%s" stroke="%s" stroke-width="2"/>`, n.x, n.y, n.radius, sheet, palette[n.layer%len(palette)])
		if n.in > 0 {
			c.text(n.x, n.y+3.5, min(10, n.radius), middle, ink, format(n.in, "short"))
		}
		n.label(c, place)
	}
}

// label writes a node's name beside it, where the next one leaves no room below, and cuts it where the panel ends.
func (n *node) label(c *canvas, place box) {
	const size, broad, gap = 10.5, 12.0, 5.0 // some systems' letters are broad
	name, before, behind := cmp.Or(n.name, "(none)"), n.x-place.x, place.x+place.w-n.x
	switch {
	case n.crowd && n.layer == 0:
		c.halo(n.x-n.radius-gap, n.y+4, size, right, ink, fit(name, before-n.radius-gap, broad))
	case n.crowd:
		c.halo(n.x+n.radius+gap, n.y+4, size, left, ink, fit(name, behind-n.radius-gap, broad))
	default:
		c.halo(n.x, n.y+n.radius+13, size, middle, ink, fit(name, 2*min(before, behind), broad))
	}
}

func find(nodes []*node, name string) *node {
	return nodes[slices.IndexFunc(nodes, func(n *node) bool { return n.name == name })]
}

// edge is an arrow; one that leads back goes below.
func edge(c *canvas, from, to *node) {
	x1, x2, mid := from.x+from.radius, to.x-to.radius-6, (from.x+to.x)/2
	y1, y2, turn := from.y, to.y, 0.0
	switch {
	case to.layer > from.layer:
		c.add(`<path d="M%s %sC%s %s %s %s %s %s" fill="none" stroke="%s"/>`, x1, y1, mid, y1, mid, y2, x2, y2, faint)
	default:
		y1, y2, x1, x2, turn = from.y+from.radius, to.y+to.radius+6, from.x, to.x, -90.0
		low := max(y1, y2) + 40
		c.add(`<path d="M%s %sC%s %s %s %s %s %s" fill="none" stroke="%s"/>`, x1, y1, x1+20, low, x2-20, low, x2, y2, faint)
	}
	c.add(`<path d="M6 0L-1 -3.5L-1 3.5z" transform="translate(%s %s) rotate(%s)" fill="%s"/>`, x2, y2, turn, faint)
}

// howOften says a number at an arrow, where those to the same node are still apart.
func howOften(c *canvas, from, to *node, at float64, text string) {
	x1, x2 := from.x+from.radius, to.x-to.radius-6
	mid := (x1 + x2) / 2
	x, y := bezier(at, x1, mid, mid, x2), bezier(at, from.y, from.y, to.y, to.y)
	if to.layer <= from.layer {
		x, y = (from.x+to.x)/2, max(from.y, to.y)+from.radius+30
	}
	c.halo(x, y+3, 9, middle, faint, text)
}

func bezier(t, a, b, c, d float64) float64 {
	u := 1 - t
	return u*u*u*a + 3*u*u*t*b + 3*u*t*t*c + t*t*t*d
}

// layered are the nodes in the order in which they are drawn.
func (a answered) layered() (nodes []*node) {
	for _, s := range a.series {
		for _, name := range []string{s.Labels["source"], s.Labels["target"]} {
			if !slices.ContainsFunc(nodes, func(n *node) bool { return n.name == name }) {
				nodes = append(nodes, &node{name: name, layer: -1})
			}
		}
	}
	for _, s := range a.series {
		find(nodes, s.Labels["target"]).in += s.Last()
	}
	next := slices.DeleteFunc(slices.Clone(nodes), func(n *node) bool { return n.in > 0 })
	for layer := 0; len(nodes) > 0; layer++ {
		if len(next) == 0 { // whoever is left calls each other in a circle
			i := slices.IndexFunc(nodes, func(n *node) bool { return n.layer < 0 })
			if i < 0 {
				break
			}
			next, layer = nodes[i:i+1], 0
		}
		for _, n := range next {
			n.layer = layer
		}
		next = a.calledBy(nodes, next)
	}
	slices.SortStableFunc(nodes, func(x, y *node) int { return cmp.Or(x.layer-y.layer, cmp.Compare(x.name, y.name)) })
	return nodes
}

// calledBy are the nodes without a layer that one of the callers calls.
func (a answered) calledBy(nodes, callers []*node) (called []*node) {
	for _, s := range a.series {
		from, to := find(nodes, s.Labels["source"]), find(nodes, s.Labels["target"])
		if to.layer < 0 && slices.Contains(callers, from) && !slices.Contains(called, to) {
			called = append(called, to)
		}
	}
	return called
}
