package config

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
)

// Limits that no real configuration reaches. They keep a wrong file from costing time and memory.
const (
	maxSources   = 100
	maxPaths     = 100
	maxPath      = 1024
	maxAgents    = 1000
	maxAgentName = 256
)

// Validate checks a configuration made in code like Load checks a file. The error joins one *Error, without
// file and line, for each mistake.
func (c Config) Validate(known KnownNames) error {
	report := newReport("")
	check(c, known, report)
	return report.err()
}

func check(c Config, known KnownNames, report *report) {
	checker := checker{report: report, known: known, names: make(map[string]string)}
	checker.checkSources(c.Sources, c.Stream.Store == StoreJetStream)
	checkRange(report, "runs.idle_timeout", c.Runs.IdleTimeout, time.Millisecond, 7*24*time.Hour)
	checkRange(report, "runs.max_open", c.Runs.MaxOpen, 1, 1_000_000)
	checkRange(report, "runs.max_operations", c.Runs.MaxOperations, 1, 1_000_000)
	checkRange(report, "runs.max_ended", c.Runs.MaxEnded, 1, 10_000)
	checkRange(report, "runs.max_ended_size", c.Runs.MaxEndedSize, 1*kibibyte, 4*gibibyte)
	checker.checkOneOf(c.Traces.Content, "traces.content", ContentNone, ContentAll)
	checker.checkOneOf(c.Traces.Profile, "traces.profile", ProfileGenAI)
	checkRange(report, "traces.max_content", c.Traces.MaxContent, 1, 16*mebibyte)
	checkRange(report, "traces.max_content_held", c.Traces.MaxContentHeld, 1, 4*gibibyte)
	checkRange(report, "metrics.max_label_values", c.Metrics.MaxLabelValues, 1, 10_000)
	checkRange(report, "metrics.max_label_sets", c.Metrics.MaxLabelSets, 2, 100_000)
	checkRange(report, "limits.frame", c.Limits.Frame, 1, gibibyte)
	checkRange(report, "limits.json_depth", c.Limits.JSONDepth, 1, 10_000) // encoding/json reads no deeper
	checkRange(report, "limits.request_body", c.Limits.RequestBody, 1, 64*mebibyte)
	checkRange(report, "limits.confidence_text", c.Limits.ConfidenceText, 1, 16*mebibyte)
	checkRange(report, "limits.observe_queue", c.Limits.ObserveQueue, 1, 4*gibibyte)
	checkRange(report, "limits.log_queue", c.Limits.LogQueue, kibibyte, gibibyte)
	checkRange(report, "limits.span_queue", c.Limits.SpanQueue, 1, 1_000_000)
	checkRange(report, "limits.span_queue_size", c.Limits.SpanQueueSize, kibibyte, 4*gibibyte)
	checkRange(report, "limits.memory", c.Limits.Memory, 0, 1024*gibibyte)
	checker.checkStream(c.Stream)
	checker.checkTraceURL(c.Web.TraceURL, "web.trace_url")
}

func checkRange[T int | float64 | time.Duration | Bytes](report *report, key string, value, low, high T) {
	if !(value >= low && value <= high) { // NaN is in no range
		report.invalid(key, fmt.Sprintf("%v is out of bounds", value), fmt.Sprintf("give a value from %v to %v", low, high))
	}
}

// checker checks a configuration. It remembers names and addresses to report those that are used twice.
type checker struct {
	report    *report
	known     KnownNames
	names     map[string]string // name → key of its source
	listeners []listener
}

// checkSources reports the mistakes of the sources. The list may be empty if optional is set: other processes
// may publish to the stream's store.
func (c *checker) checkSources(sources []Source, optional bool) {
	if len(sources) == 0 && !optional {
		c.report.invalid("sources", "there is no source", "give at least one, with a name and a proxy or a tail")
	}
	if !c.checkCount("sources", len(sources), maxSources) {
		return
	}
	var hops []hop
	for i, source := range sources {
		key := fmt.Sprintf("sources[%d]", i)
		c.checkName(source.Name, key)
		c.checkDialect(source.Dialect, key+".dialect")
		c.checkCustom(source, key)
		c.checkOneOf(source.Relay, key+".relay", RelayFiltered, RelayVerbatim)
		c.checkOneOf(source.Policy, key+".policy", PolicyClient, PolicyPublic)
		c.checkOneOf(source.AgentCards, key+".agent_cards", CardsRewritten, CardsVerbatim)
		c.checkAgentsAsTools(source.AgentsAsTools, key+".agents_as_tools")
		c.checkAgentName(source.Agent, key+".agent")
		switch {
		case source.Proxy == nil && source.Tail == nil:
			c.report.invalid(key+".proxy", "missing", "give a proxy with listen and upstream, or a tail with url")
		case source.Proxy != nil && source.Tail != nil:
			c.report.invalid(key+".tail", "the source has a proxy too", "give a source one of the two, and the other to a source of its own")
		case source.Tail != nil:
			c.checkTail(*source.Tail, key+".tail")
		default:
			listen := c.checkListen(source.Proxy.Listen, key+".proxy.listen")
			if upstream, ok := c.checkUpstream(source.Proxy.Upstream, key+".proxy.upstream", listen); ok {
				hops = append(hops, hop{key + ".proxy.upstream", listen, upstream})
			}
			c.checkPaths(source.Proxy.Paths, key+".proxy.paths")
			c.checkPublicPaths(source, key+".proxy.public_paths")
			if source.Policy == PolicyPublic && source.Relay == RelayVerbatim {
				c.report.invalid(key+".relay", "a verbatim relay lets everything out, whatever the policy", "use relay: filtered, or leave policy out")
			}
		}
	}
	c.checkLoops(hops)
}

func (c *checker) checkCount(key string, count, limit int) bool {
	if count > limit {
		c.report.invalid(key, fmt.Sprintf("%d items are too many", count), fmt.Sprintf("give at most %d", limit))
	}
	return count <= limit
}

// maxName is the maximum length of the name of a source or a stream.
const maxName = 64

var sourceName = regexp.MustCompile(`^[a-zA-Z0-9_.-]+$`)

func (c *checker) checkName(name, sourceKey string) {
	key, remedy := sourceKey+".name", `use 1 to 64 letters (a-z, A-Z), digits, "_", "." and "-"`
	switch first := c.names[name]; {
	case name == "":
		c.report.invalid(key, c.report.missingOrEmpty(key), remedy)
	case len(name) > maxName || !sourceName.MatchString(name):
		c.report.invalid(key, fmt.Sprintf("%.80q is not a name", name), remedy)
	case first != "":
		c.report.invalid(key, fmt.Sprintf("%q is already the name of %s", name, first), "give each source a name of its own")
	default:
		c.names[name] = sourceKey
	}
}

func (c *checker) checkDialect(dialect, key string) {
	dialects := append([]string{DialectAuto, DialectCustom}, c.known.Dialects...)
	if !slices.Contains(dialects, dialect) {
		c.report.invalid(key, fmt.Sprintf("%.60q is not a known dialect", dialect), suggestion(dialect, dialects))
	}
}

// checkOneOf reports a value that is not in values.
func (c *checker) checkOneOf(value, key string, values ...string) {
	if !slices.Contains(values, value) {
		c.report.invalid(key, fmt.Sprintf("%.60q is not a value of this key", value), suggestion(value, values))
	}
}

// suggestion returns the remedy for an unknown word: a similar word, or all words.
func suggestion(word string, words []string) string {
	if meant := closest(word, words); meant != "" {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return "use one of " + strings.Join(words, ", ")
}

// checkAgentName checks the name of an agent, which may be "".
func (c *checker) checkAgentName(name, key string) {
	if len(name) > maxAgentName || strings.ContainsFunc(name, unprintable) {
		c.report.invalid(key, fmt.Sprintf("%.60q is not the name of an agent", name), fmt.Sprintf("give at most %d bytes of printable text", maxAgentName))
	}
}

func (c *checker) checkAgentsAsTools(agents []string, key string) {
	if !c.checkCount(key, len(agents), maxAgents) {
		return
	}
	seen := make(map[string]bool)
	for i, agent := range agents {
		key := fmt.Sprintf("%s[%d]", key, i)
		switch {
		case agent == "" || len(agent) > maxAgentName || strings.ContainsFunc(agent, unprintable):
			c.report.invalid(key, fmt.Sprintf("%.60q is not the name of a tool", agent),
				fmt.Sprintf("give 1 to %d bytes of printable text", maxAgentName))
		case seen[agent]:
			c.report.invalid(key, fmt.Sprintf("%.60q is listed twice", agent), "remove one of the two")
		}
		seen[agent] = true
	}
}

func (c *checker) checkPaths(globs []string, key string) {
	if globs != nil && len(globs) == 0 {
		c.report.invalid(key, "the list is empty", "give a path, or leave the key out for those of the dialects")
	}
	if !c.checkCount(key, len(globs), maxPaths) {
		return
	}
	for i, glob := range globs {
		key := fmt.Sprintf("%s[%d]", key, i)
		_, err := path.Match(glob, "")
		switch {
		case !strings.HasPrefix(glob, "/"):
			c.report.invalid(key, fmt.Sprintf("%.60q does not begin with /", glob), "give the whole path, such as /run_sse")
		case strings.Contains(glob, "**"):
			c.report.invalid(key, fmt.Sprintf("%.60q contains **, which matches no more than *", glob), "write one * for each part of the path")
		case err != nil || len(glob) > maxPath || strings.ContainsFunc(glob, unprintable):
			c.report.invalid(key, fmt.Sprintf("%.60q is not a glob", glob), `use *, ? and [a-z]; put \ before one that stands for itself`)
		}
	}
}

func (c *checker) checkPublicPaths(source Source, key string) {
	c.checkPaths(source.Proxy.PublicPaths, key)
	if source.Proxy.PublicPaths != nil && (source.Policy != PolicyPublic || source.Relay == RelayVerbatim) {
		c.report.invalid(key, "it is for the policy public of a filtered relay only", "use policy: public, or leave it out: every path is let out")
	}
	for i, glob := range source.Proxy.PublicPaths {
		if plain := path.Clean(glob); plain != strings.TrimSuffix(glob, "/") && glob != "/" || strings.ContainsAny(glob, "%;#") {
			c.report.invalid(fmt.Sprintf("%s[%d]", key, i), fmt.Sprintf("%.60q matches nothing", glob),
				"write the path without //, dot segments, %, ; and #: answers on other spellings are withheld")
		}
	}
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }
