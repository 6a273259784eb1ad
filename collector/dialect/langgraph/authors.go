package langgraph

import (
	"slices"

	"github.com/delegraph/delegraph/collector/dialect/wire"
	"github.com/delegraph/delegraph/collector/event"
	"github.com/delegraph/delegraph/collector/lenient"
	"github.com/delegraph/delegraph/collector/strictjson"
)

// messageAuthor is the member of a message that names its author. metadataAuthor is that of LangChain's metadata.
var (
	messageAuthor  = wire.NewAuthorMember("name")
	metadataAuthor = wire.NewAuthorMember("lc_agent_name")
)

// userTypes are the types and roles of the user's messages.
var userTypes = []string{"human", "user", "HumanMessage", "HumanMessageChunk"}

func isOfUser(message strictjson.Value) bool {
	return lenient.MatchesAny(message.First("type", "role").Text(), userTypes)
}

// setAuthors sets the authors of a frame and of its messages: those that this frame and earlier ones name, else the agent
// of the graph. If the graph has no agent, the author is unknown.
func (d *decoder) setAuthors(mode string, sc *scope, v strictjson.Value, b *event.Batch) {
	if mode == modeMessagesMetadata {
		for id, entry := range v.Members() {
			d.authors.Add(d.name(id), metadataAuthor.Of(entry.Get("metadata"), &d.names)...)
		}
	}
	if len(d.messages) == 0 {
		return
	}
	var all []string
	metadata, outputs := metadataOf(mode, v), describedIn(mode, v)
	for _, m := range d.messages {
		if isToolResult(m) || isOfUser(m) {
			continue
		}
		names, graph := messageAuthor.Of(m, &d.names), sc
		if slices.Contains(outputs, m) {
			names = append(names, metadataAuthor.Of(metadata, &d.names)...)
			graph = d.graphOf(metadata, sc)
		}
		names = d.authorsOf(m, names, graph)
		if !isOnlyAuthor(b.Agent, names) {
			b.AddAuthors(m, names...)
		}
		for _, name := range names {
			if mayShowWords(m) {
				all = wire.AddAuthor(all, name)
			}
		}
	}
	if !isOnlyAuthor(b.Agent, all) {
		b.AddAuthors(b.JSON, all...)
	}
}

// mayShowWords reports whether a message has content, or thoughts beside it.
func mayShowWords(m strictjson.Value) bool {
	for range contentOf(m, false) {
		return true
	}
	return len(m.Get("content").Raw()) > len(`""`) || m.Get("content_blocks").Len() > 0
}

// isOnlyAuthor reports whether there is no author but the agent. An unknown agent does not count.
func isOnlyAuthor(agent string, authors []string) bool {
	return len(authors) == 0 || len(authors) == 1 && authors[0] == agent && agent != wire.UnknownAuthor
}

// authorsOf returns the authors of a message in a graph. names are those that the current frame states.
func (d *decoder) authorsOf(m strictjson.Value, names []string, graph *scope) []string {
	if len(names) == 0 && graph.above != nil && graph.agent != "" { // the graphs above may repeat the message
		names = append(names, graph.agent)
	}
	if id := d.name(m.Get("id")); id != "" {
		d.authors.Add(id, names...)
		names = d.authors.Of(id)
	}
	if len(names) == 0 {
		return []string{graph.author()}
	}
	return names
}

// author returns the agent that wrote what has no stated author, or "".
func (sc *scope) author() string {
	if sc.isAssumed {
		return ""
	}
	return sc.speaker().Agent
}

// describedIn returns the messages of a frame that its metadata is about.
func describedIn(mode string, v strictjson.Value) []strictjson.Value {
	switch mode {
	case modeMessages:
		message, _ := tuple(v)
		return []strictjson.Value{message}
	case modeEvents:
		return []strictjson.Value{v.Get("data").Get("chunk"), v.Get("data").Get("output")}
	}
	return nil
}

// metadataOf returns LangGraph's metadata of a frame of some modes.
func metadataOf(mode string, v strictjson.Value) strictjson.Value {
	if mode == modeMessages {
		_, metadata := tuple(v)
		return metadata
	}
	return v.Get("metadata")
}
