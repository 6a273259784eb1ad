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

// More than anyone has; they keep a mistaken file from costing time and memory before it is refused.
const (
	maxSources   = 100
	maxPaths     = 100
	maxPath      = 1024
	maxAgents    = 1000
	maxAgentName = 256
)

// Validate checks a configuration made in code as Load checks a file. The error joins one *Error, without file and
// line, for each mistake.
func (c Config) Validate(known Known) error {
	report := newReport("")
	check(c, known, report)
	return report.err()
}

func check(c Config, known Known, report *report) {
	checker := checker{report: report, known: known, names: make(map[string]string)}
	checker.sources(c.Sources, c.Stream.Store == StoreJetStream)
	between(report, "runs.idle_timeout", c.Runs.IdleTimeout, time.Millisecond, 7*24*time.Hour)
	between(report, "runs.max_open", c.Runs.MaxOpen, 1, 1_000_000)
	between(report, "runs.max_operations", c.Runs.MaxOperations, 1, 1_000_000)
	between(report, "runs.max_ended", c.Runs.MaxEnded, 1, 10_000)
	between(report, "runs.max_ended_size", c.Runs.MaxEndedSize, 1*kibibyte, 4*gibibyte)
	checker.oneOf(c.Traces.Content, "traces.content", ContentNone, ContentAll)
	checker.oneOf(c.Traces.Profile, "traces.profile", ProfileGenAI)
	between(report, "traces.max_content", c.Traces.MaxContent, 1, 16*mebibyte)
	between(report, "traces.max_content_held", c.Traces.MaxContentHeld, 1, 4*gibibyte)
	between(report, "metrics.max_label_values", c.Metrics.MaxLabelValues, 1, 10_000)
	between(report, "metrics.max_label_sets", c.Metrics.MaxLabelSets, 1, 100_000)
	between(report, "limits.frame", c.Limits.Frame, 1, gibibyte)
	between(report, "limits.json_depth", c.Limits.JSONDepth, 1, 10_000) // encoding/json reads no deeper
	between(report, "limits.request_body", c.Limits.RequestBody, 1, 64*mebibyte)
	between(report, "limits.confidence_text", c.Limits.ConfidenceText, 1, 16*mebibyte)
	between(report, "limits.observe_queue", c.Limits.ObserveQueue, 1, 4*gibibyte)
	between(report, "limits.log_queue", c.Limits.LogQueue, kibibyte, gibibyte)
	between(report, "limits.span_queue", c.Limits.SpanQueue, 1, 1_000_000)
	between(report, "limits.span_queue_size", c.Limits.SpanQueueSize, kibibyte, 4*gibibyte)
	between(report, "limits.memory", c.Limits.Memory, 0, 1024*gibibyte)
	checker.stream(c.Stream)
	checker.traceURL(c.Web.TraceURL, "web.trace_url")
}

func between[T int | float64 | time.Duration | Bytes](report *report, key string, value, low, high T) {
	if value < low || value > high {
		report.wrong(key, fmt.Sprintf("%v is out of bounds", value), fmt.Sprintf("give a value from %v to %v", low, high))
	}
}

// checker reports the mistakes of sources, one by itself and one against those before it.
type checker struct {
	report    *report
	known     Known
	names     map[string]string // name → key of its source
	listeners []listener
}

// sources may be none where others publish.
func (c *checker) sources(sources []Source, none bool) {
	if len(sources) == 0 && !none {
		c.report.wrong("sources", "there is no source", "give at least one, with a name and a proxy or a tail")
	}
	if !c.within("sources", len(sources), maxSources) {
		return
	}
	var hops []hop
	for i, source := range sources {
		key := fmt.Sprintf("sources[%d]", i)
		c.name(source.Name, key)
		c.dialect(source.Dialect, key+".dialect")
		c.custom(source, key)
		c.oneOf(source.Relay, key+".relay", RelayFiltered, RelayVerbatim)
		c.oneOf(source.Policy, key+".policy", PolicyClient, PolicyPublic)
		c.oneOf(source.AgentCards, key+".agent_cards", CardsRewritten, CardsVerbatim)
		c.agents(source.AgentsAsTools, key+".agents_as_tools")
		c.agent(source.Agent, key+".agent")
		switch {
		case source.Proxy == nil && source.Tail == nil:
			c.report.wrong(key+".proxy", "missing", "give a proxy with listen and upstream, or a tail with url")
		case source.Proxy != nil && source.Tail != nil:
			c.report.wrong(key+".tail", "there is a proxy too", "give a source one of the two, and the other to a source of its own")
		case source.Tail != nil:
			c.tail(*source.Tail, key+".tail")
		default:
			listen := c.listen(source.Proxy.Listen, key+".proxy.listen")
			if upstream, ok := c.upstream(source.Proxy.Upstream, key+".proxy.upstream", listen); ok {
				hops = append(hops, hop{key + ".proxy.upstream", listen, upstream})
			}
			c.paths(source.Proxy.Paths, key+".proxy.paths")
			c.publicPaths(source, key+".proxy.public_paths")
			if source.Policy == PolicyPublic && source.Relay == RelayVerbatim {
				c.report.wrong(key+".relay", "a verbatim relay lets everything out, whatever the policy", "use relay: filtered, or leave policy out")
			}
		}
	}
	c.loops(hops)
}

func (c *checker) within(key string, count, limit int) bool {
	if count > limit {
		c.report.wrong(key, fmt.Sprintf("%d items are too many", count), fmt.Sprintf("give at most %d", limit))
	}
	return count <= limit
}

var sourceName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

func (c *checker) name(name, sourceKey string) {
	key, remedy := sourceKey+".name", `use 1 to 64 letters (a-z, A-Z), digits, "_", "." and "-"`
	switch first := c.names[name]; {
	case name == "":
		c.report.wrong(key, c.report.lack(key), remedy)
	case !sourceName.MatchString(name):
		c.report.wrong(key, fmt.Sprintf("%.80q is not a name", name), remedy)
	case first != "":
		c.report.wrong(key, fmt.Sprintf("%q is the name of %s already", name, first), "give each source a name of its own")
	default:
		c.names[name] = sourceKey
	}
}

func (c *checker) dialect(dialect, key string) {
	dialects := append([]string{DialectAuto, DialectCustom}, c.known.Dialects...)
	if !slices.Contains(dialects, dialect) {
		c.report.wrong(key, fmt.Sprintf("%.60q is not a known dialect", dialect), instead(dialect, dialects))
	}
}

// oneOf reports a value that is none of those that the key can have.
func (c *checker) oneOf(value, key string, values ...string) {
	if !slices.Contains(values, value) {
		c.report.wrong(key, fmt.Sprintf("%.60q is not a value of this key", value), instead(value, values))
	}
}

// instead is what to write in the place of a word.
func instead(word string, words []string) string {
	if meant := closest(word, words); meant != "" {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return "use one of " + strings.Join(words, ", ")
}

// agent checks the name of an agent, which may be left out.
func (c *checker) agent(name, key string) {
	if len(name) > maxAgentName || strings.ContainsFunc(name, unprintable) {
		c.report.wrong(key, fmt.Sprintf("%.60q is not the name of an agent", name), fmt.Sprintf("give at most %d bytes of printable text", maxAgentName))
	}
}

func (c *checker) agents(agents []string, key string) {
	if !c.within(key, len(agents), maxAgents) {
		return
	}
	seen := make(map[string]bool)
	for i, agent := range agents {
		key := fmt.Sprintf("%s[%d]", key, i)
		switch {
		case agent == "" || len(agent) > maxAgentName || strings.ContainsFunc(agent, unprintable):
			c.report.wrong(key, fmt.Sprintf("%.60q is not the name of a tool", agent),
				fmt.Sprintf("give 1 to %d bytes of printable text", maxAgentName))
		case seen[agent]:
			c.report.wrong(key, fmt.Sprintf("%.60q stands here twice", agent), "remove one of the two")
		}
		seen[agent] = true
	}
}

func (c *checker) paths(globs []string, key string) {
	if globs != nil && len(globs) == 0 {
		c.report.wrong(key, "the list is empty", "give a path, or leave the key out for those of the dialects")
	}
	if !c.within(key, len(globs), maxPaths) {
		return
	}
	for i, glob := range globs {
		key := fmt.Sprintf("%s[%d]", key, i)
		_, err := path.Match(glob, "")
		switch {
		case !strings.HasPrefix(glob, "/"):
			c.report.wrong(key, fmt.Sprintf("%.60q does not begin with /", glob), "give the whole path, such as /run_sse")
		case strings.Contains(glob, "**"):
			c.report.wrong(key, fmt.Sprintf("%.60q has **, which matches no more than *", glob), "write one * for each part of the path")
		case err != nil || len(glob) > maxPath || strings.ContainsFunc(glob, unprintable):
			c.report.wrong(key, fmt.Sprintf("%.60q is not a glob", glob), `use *, ? and [a-z]; put \ before one that stands for itself`)
		}
	}
}

func (c *checker) publicPaths(source Source, key string) {
	c.paths(source.Proxy.PublicPaths, key)
	if source.Proxy.PublicPaths != nil && (source.Policy != PolicyPublic || source.Relay == RelayVerbatim) {
		c.report.wrong(key, "it is for the policy public of a filtered relay only", "use policy: public, or leave it out: every path is let out")
	}
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }
