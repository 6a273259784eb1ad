package main

import (
	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/custom"
	"github.com/delegraph/delegraph/config"
)

// dialectsOf returns the dialects in which a source's streams are read: that of its mapping, if it has one, and all that are known.
func dialectsOf(c config.Source) []dialect.Dialect {
	if c.Custom == nil {
		return collector.Dialects()
	}
	return append([]dialect.Dialect{custom.New(mapping(*c.Custom))}, collector.Dialects()...)
}

// mappings returns the dialects of the sources that have a mapping, by the names of the sources.
func mappings(c config.Config) map[string]dialect.Dialect {
	all := map[string]dialect.Dialect{}
	for _, source := range c.Sources {
		if source.Custom != nil {
			all[source.Name] = custom.New(mapping(*source.Custom))
		}
	}
	return all
}

func mapping(c config.Custom) custom.Mapping {
	m := custom.Mapping{Paths: c.Paths, Failed: c.Failed, End: c.End, Hidden: c.Hidden, Frames: make(map[string]custom.Frame, len(c.Frames))}
	for name, f := range c.Frames {
		m.Frames[name] = custom.Frame(f)
	}
	return m
}

// meanings are what a mapping's frames can mean.
func meanings() (known []config.Meaning) {
	for _, m := range custom.Meanings() {
		known = append(known, config.Meaning{Name: m.Name, Needs: m.Needs, Takes: m.Takes})
	}
	return known
}
