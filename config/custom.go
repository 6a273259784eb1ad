package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Custom says what the frames of a home-grown agent's stream mean. A path is the names of the members that lead to a value of a frame's
// JSON, joined by dots.
type Custom struct {
	Paths  map[string]string      `yaml:"paths,omitempty"`  // of every frame, by Known.Paths
	Failed []string               `yaml:"failed,omitempty"` // what a status says of what failed
	End    string                 `yaml:"end,omitempty"`    // data that is no JSON and ends a run, such as [DONE]
	Hidden []string               `yaml:"hidden,omitempty"` // outermost members of frames that no reader outside gets
	Frames map[string]CustomFrame `yaml:"frames"`           // by their types
}

// CustomFrame says what a type of frame means.
type CustomFrame struct {
	Means string            `yaml:"means"` // the name of one of Known.Meanings
	Paths map[string]string `yaml:"paths,omitempty"`
}

// Meaning is what a frame of a Custom can mean.
type Meaning struct {
	Name  string
	Needs []string // names of paths; "a|b" is either of the two
	Takes []string // which may be left out
}

// More than any agent has.
const (
	maxFrames     = 200
	maxWords      = 100
	maxFrameType  = 256
	maxCustomPath = 256
	maxMembers    = 8
)

// typePath is the name of the path to a frame's type.
const typePath = "type"

// custom reports the mistakes of a source's mapping.
func (c *checker) custom(source Source, key string) {
	own := key + ".custom"
	switch {
	case source.Dialect != DialectCustom && source.Custom != nil:
		c.report.wrong(own, "it is for the dialect custom only", "write dialect: custom, or leave it out")
	case source.Dialect == DialectCustom && source.Custom == nil:
		c.report.wrong(own, "missing", "say with paths and frames what the agent's frames mean")
	}
	if source.Custom == nil {
		return
	}
	if source.Proxy != nil && source.Proxy.Paths == nil && source.Dialect == DialectCustom {
		c.report.wrong(key+".proxy.paths", "missing", "give the paths of the agent's streams: nothing else tells which answers these are")
	}
	m := *source.Custom
	c.customPaths(m.Paths, c.known.Paths, own+".paths")
	c.words(m.Failed, own+".failed")
	c.words(m.Hidden, own+".hidden")
	if m.End != "" {
		c.word(m.End, own+".end")
		if m.Paths[typePath] == "" {
			c.report.wrong(own+".end", "frames are told apart by their SSE event names, and this has none", "give paths.type, or leave it out")
		}
	}
	if len(m.Frames) == 0 {
		c.report.wrong(own+".frames", "there is no frame", "give each type of frame that the agent sends, with what it means")
	}
	if !c.within(own+".frames", len(m.Frames), maxFrames) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m.Frames)) {
		c.word(name, join(own+".frames", name))
		c.frame(m.Frames[name], m.Paths, join(own+".frames", name))
	}
}

func (c *checker) words(words []string, key string) {
	if !c.within(key, len(words), maxWords) {
		return
	}
	for i, word := range words {
		c.word(word, fmt.Sprintf("%s[%d]", key, i))
	}
}

// word checks a text of the agent's.
func (c *checker) word(text, key string) {
	if text == "" || len(text) > maxFrameType || strings.ContainsFunc(text, unprintable) {
		c.report.wrong(key, fmt.Sprintf("%.60q is not what an agent sends", text), fmt.Sprintf("give 1 to %d bytes of printable text", maxFrameType))
	}
}

func (c *checker) frame(f CustomFrame, common map[string]string, key string) {
	i := slices.IndexFunc(c.known.Meanings, func(m Meaning) bool { return m.Name == f.Means })
	if i < 0 {
		var names []string
		for _, m := range c.known.Meanings {
			names = append(names, m.Name)
		}
		problem := fmt.Sprintf("%.60q is not a meaning", f.Means)
		if f.Means == "" {
			problem = c.report.lack(key + ".means")
		}
		c.report.wrong(key+".means", problem, instead(f.Means, names))
		return
	}
	meaning := c.known.Meanings[i]
	var takes []string
	for _, needed := range meaning.Needs {
		either := strings.Split(needed, "|")
		takes = append(takes, either...)
		if !slices.ContainsFunc(either, func(name string) bool { return f.Paths[name] != "" }) {
			c.report.wrong(key+".paths", fmt.Sprintf("%s needs a path for %s", meaning.Name, strings.Join(either, " or ")), "say where in the frame it stands")
		}
	}
	takes = append(takes, meaning.Takes...)
	for _, name := range c.known.Paths {
		if name != typePath {
			takes = append(takes, name)
		}
	}
	c.customPaths(f.Paths, takes, key+".paths")
}

func (c *checker) customPaths(paths map[string]string, known []string, key string) {
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		if !slices.Contains(known, name) {
			c.report.wrong(join(key, name), "there is no such path here", instead(name, known))
			continue
		}
		text := paths[name]
		members := strings.Split(text, ".")
		if slices.Contains(members, "") || len(members) > maxMembers || len(text) > maxCustomPath || strings.ContainsFunc(text, unprintable) {
			c.report.wrong(join(key, name), fmt.Sprintf("%.60q is not a path", text),
				fmt.Sprintf("give up to %d names of members, from the outermost to the innermost, with a dot between two", maxMembers))
		}
	}
}
