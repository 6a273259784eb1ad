package web

import (
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// servedElements are removed from an exported page, because they need a server or a script.
var servedElements = []string{"form", "button", "input", "select", "script", "link", "img", "iframe", "object", "embed"}

// referenceAttributes are the attributes whose values are ids of elements.
var referenceAttributes = []string{"aria-labelledby", "aria-describedby", "aria-controls", "for", "headers"}

// clean prepares a part of a page of the admin server for a file: it prefixes ids, resolves links, and removes the
// elements that need a server.
func (p *exportedPage) clean(n *html.Node, base *url.URL, prefix string) {
	var next *html.Node
	for child := n.FirstChild; child != nil; child = next {
		next = child.NextSibling
		if child.Type != html.ElementNode {
			continue
		}
		if p.mustRemove(child) {
			n.RemoveChild(child)
			continue
		}
		p.clean(child, base, prefix)
	}
	if n.Type != html.ElementNode {
		return
	}
	p.link(n, base)
	if n.Data == "section" { // otherwise the sections of many runs are landmarks with equal names
		n.Data, n.DataAtom = "div", 0
		setAttribute(n, "aria-labelledby", "")
	}
	n.Data = lowerHeading(n.Data)
	var kept []html.Attribute
	for _, a := range n.Attr {
		if a, keep := p.exportAttribute(a, prefix); keep {
			kept = append(kept, a)
		}
	}
	n.Attr = kept
}

// mustRemove reports whether an element needs a server, or is a pattern that the page already has.
func (p *exportedPage) mustRemove(n *html.Node) bool {
	if n.Data == "pattern" {
		id := attribute(n, "id")
		known := p.hatches[id]
		p.hatches[id] = true
		return known
	}
	classes := strings.Fields(attribute(n, "class"))
	return slices.Contains(servedElements, n.Data) || slices.Contains(classes, "actions")
}

// link turns a link to a run of the page into one within the page, and every other link into text.
func (p *exportedPage) link(n *html.Node, base *url.URL) {
	if n.Data != "a" {
		return
	}
	href := attribute(n, "href")
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key != "class" })
	if to, err := base.Parse(href); err == nil && to.RawQuery == "" && to.Fragment == "" && p.anchors[to.Path] != "" {
		setAttribute(n, "href", "#"+p.anchors[to.Path])
		return
	}
	n.Data, n.DataAtom = "span", 0
}

// exportAttribute returns an attribute for the exported page, or false to remove it.
func (p *exportedPage) exportAttribute(a html.Attribute, prefix string) (html.Attribute, bool) {
	switch {
	case a.Key == "id" && p.hatches[a.Val]:
	case a.Key == "id":
		a.Val = prefix + "-" + a.Val
		return a, prefix != ""
	case slices.Contains(referenceAttributes, a.Key):
		var ids []string
		for _, id := range strings.Fields(a.Val) {
			ids = append(ids, prefix+"-"+id)
		}
		a.Val = strings.Join(ids, " ")
	case strings.HasPrefix(a.Val, "url(#"):
		a.Val = "url(#" + prefix + "-" + strings.TrimPrefix(a.Val, "url(#")
	case a.Key == "href":
		return a, strings.HasPrefix(a.Val, "#")
	case strings.HasPrefix(a.Key, "on"), strings.HasPrefix(a.Key, "data-") && a.Key != "data-label", slices.Contains([]string{"src", "srcset", "action", "formaction", "style", "poster"}, a.Key):
		return a, false
	}
	return a, true
}

// lowerHeading returns the element for a heading one level below, because the exported page has a heading of its own.
func lowerHeading(element string) string {
	switch element {
	case "h1":
		return "h2"
	case "h2":
		return "h3"
	case "h3":
		return "h4"
	}
	return element
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// setAttribute sets an attribute, or removes it if the value is "".
func setAttribute(n *html.Node, name, value string) {
	n.Attr = slices.DeleteFunc(n.Attr, func(a html.Attribute) bool { return a.Key == name })
	if value != "" {
		n.Attr = append(n.Attr, html.Attribute{Key: name, Val: value})
	}
}

func elementWithID(n *html.Node, id string) *html.Node {
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && attribute(d, "id") == id {
			return d
		}
	}
	return nil
}
