package settings

import (
	"github.com/delegraph/delegraph/collector"
	"github.com/delegraph/delegraph/collector/dialect"
	"github.com/delegraph/delegraph/collector/dialect/custom"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream/format"
)

// Dialects returns the dialects that the streams of a source may have: the source's custom dialect, if it has one, and
// all built-in ones.
func Dialects(c config.Source) []dialect.Dialect {
	if c.Custom == nil {
		return collector.Dialects()
	}
	return append([]dialect.Dialect{custom.New(mapping(*c.Custom))}, collector.Dialects()...)
}

// DialectNames returns the names of the dialects that are built in.
func DialectNames() (names []string) {
	for _, d := range collector.Dialects() {
		names = append(names, d.Name())
	}
	return names
}

// CustomDialects returns the dialects of the sources that have a mapping, by the names of the sources.
func CustomDialects(c config.Config) map[string]dialect.Dialect {
	all := map[string]dialect.Dialect{}
	for _, source := range c.Sources {
		if source.Custom != nil {
			all[source.Name] = custom.New(mapping(*source.Custom))
		}
	}
	return all
}

// Decoder returns a function that makes decoders of filtered frames, for readers that want another format. The function
// takes the source of a stream, its dialect, and whether it answers one request. customs returns the dialect of a source
// that has a mapping, or nil. wholeCalls is called when a stream begins, and says whether its frames may have arguments of calls.
func Decoder(c collector.Settings, wholeCalls func() bool, customs func(source string) dialect.Dialect) func(source, name string, answer bool) format.Decoder {
	dialects := map[string]dialect.Dialect{}
	for _, d := range collector.Dialects() {
		dialects[d.Name()] = d
	}
	return func(source, name string, answer bool) format.Decoder {
		d := dialects[name]
		if name == custom.Name {
			d = customs(source)
		}
		if d == nil {
			return nil
		}
		return collector.NewFrameDecoder(d, answer, wholeCalls(), c)
	}
}

func mapping(c config.Custom) custom.Mapping {
	m := custom.Mapping{Paths: c.Paths, FailureStatuses: c.Failed, EndMarker: c.End, HiddenMembers: c.Hidden, Frames: make(map[string]custom.Frame, len(c.Frames))}
	for name, f := range c.Frames {
		m.Frames[name] = custom.Frame(f)
	}
	return m
}

// meanings returns the meanings that frames of a mapping can have.
func meanings() (all []config.Meaning) {
	for _, m := range custom.Meanings() {
		all = append(all, config.Meaning{Name: m.Name, Required: m.Required, Optional: m.Optional})
	}
	return all
}
