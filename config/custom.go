package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Custom maps the frames of an agent with its own protocol. A path is the names of the members that lead to
// a value in a frame's JSON, joined by dots.
type Custom struct {
	Paths  map[string]string      `yaml:"paths,omitempty"`  // of every frame, by a name of KnownNames.Paths
	Failed []string               `yaml:"failed,omitempty"` // values of a status that mean failure
	End    string                 `yaml:"end,omitempty"`    // data that ends a run and is not JSON, such as [DONE]
	Hidden []string               `yaml:"hidden,omitempty"` // top-level members of frames that are never let out
	Frames map[string]CustomFrame `yaml:"frames"`           // by type
}

// CustomFrame maps one type of frame.
type CustomFrame struct {
	Means string            `yaml:"means"` // the name of one of KnownNames.Meanings
	Paths map[string]string `yaml:"paths,omitempty"`
}

// Meaning is a value of CustomFrame.Means, with the paths that such a frame has.
type Meaning struct {
	Name     string
	Required []string // names of required paths; "a|b" means either of the two
	Optional []string // names of optional paths
}

// Limits that no real mapping reaches.
const (
	maxFrames     = 200
	maxWords      = 100
	maxFrameType  = 256
	maxCustomPath = 256
	maxMembers    = 8
)

// typePath is the name of the path to a frame's type.
const typePath = "type"

// checkCustom reports the mistakes of a source's mapping.
func (c *checker) checkCustom(source Source, key string) {
	own := key + ".custom"
	switch {
	case source.Dialect != DialectCustom && source.Custom != nil:
		c.report.invalid(own, "it is for the dialect custom only", "write dialect: custom, or leave it out")
	case source.Dialect == DialectCustom && source.Custom == nil:
		c.report.invalid(own, "missing", "say with paths and frames what the agent's frames mean")
	}
	if source.Custom == nil {
		return
	}
	if source.Proxy != nil && source.Proxy.Paths == nil && source.Dialect == DialectCustom {
		c.report.invalid(key+".proxy.paths", "missing", "give the paths of the agent's streams: nothing else tells which answers these are")
	}
	m := *source.Custom
	c.checkCustomPaths(m.Paths, c.known.Paths, own+".paths")
	c.checkWords(m.Failed, own+".failed")
	c.checkWords(m.Hidden, own+".hidden")
	if m.End != "" {
		c.checkWord(m.End, own+".end")
		if m.Paths[typePath] == "" {
			c.report.invalid(own+".end", "frames are told apart by their SSE event names, and this has none", "give paths.type, or leave it out")
		}
	}
	if len(m.Frames) == 0 {
		c.report.invalid(own+".frames", "there is no frame", "give each type of frame that the agent sends, with what it means")
	}
	if !c.checkCount(own+".frames", len(m.Frames), maxFrames) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(m.Frames)) {
		c.checkWord(name, join(own+".frames", name))
		c.checkFrame(m.Frames[name], m.Paths, join(own+".frames", name))
	}
}

func (c *checker) checkWords(words []string, key string) {
	if !c.checkCount(key, len(words), maxWords) {
		return
	}
	for i, word := range words {
		c.checkWord(word, fmt.Sprintf("%s[%d]", key, i))
	}
}

// checkWord checks a text that the agent is to send.
func (c *checker) checkWord(text, key string) {
	if text == "" || len(text) > maxFrameType || strings.ContainsFunc(text, unprintable) {
		c.report.invalid(key, fmt.Sprintf("%.60q is not what an agent sends", text), fmt.Sprintf("give 1 to %d bytes of printable text", maxFrameType))
	}
}

func (c *checker) checkFrame(f CustomFrame, common map[string]string, key string) {
	i := slices.IndexFunc(c.known.Meanings, func(m Meaning) bool { return m.Name == f.Means })
	if i < 0 {
		var names []string
		for _, m := range c.known.Meanings {
			names = append(names, m.Name)
		}
		problem := fmt.Sprintf("%.60q is not a meaning", f.Means)
		if f.Means == "" {
			problem = c.report.missingOrEmpty(key + ".means")
		}
		c.report.invalid(key+".means", problem, suggestion(f.Means, names))
		return
	}
	meaning := c.known.Meanings[i]
	var takes []string
	for _, needed := range meaning.Required {
		either := strings.Split(needed, "|")
		takes = append(takes, either...)
		if !slices.ContainsFunc(either, func(name string) bool { return f.Paths[name] != "" }) {
			c.report.invalid(key+".paths", fmt.Sprintf("%s needs a path for %s", meaning.Name, strings.Join(either, " or ")), "say where in the frame it stands")
		}
	}
	takes = append(takes, meaning.Optional...)
	for _, name := range c.known.Paths {
		if name != typePath {
			takes = append(takes, name)
		}
	}
	c.checkCustomPaths(f.Paths, takes, key+".paths")
}

func (c *checker) checkCustomPaths(paths map[string]string, known []string, key string) {
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		if !slices.Contains(known, name) {
			c.report.invalid(join(key, name), "there is no such path here", suggestion(name, known))
			continue
		}
		text := paths[name]
		members := strings.Split(text, ".")
		if slices.Contains(members, "") || len(members) > maxMembers || len(text) > maxCustomPath || strings.ContainsFunc(text, unprintable) {
			c.report.invalid(join(key, name), fmt.Sprintf("%.60q is not a path", text),
				fmt.Sprintf("give up to %d names of members, from the outermost to the innermost, with a dot between two", maxMembers))
		} else if strings.Contains(text, "[") {
			c.report.invalid(join(key, name), fmt.Sprintf("%.60q leads into a list, where no value can be read", text), "give the path of a value that is in no list")
		}
	}
}
