package format

import (
	"bytes"
	"encoding/json"

	"github.com/delegraph/delegraph/collector/event"
)

// The types in this file are parts of events, as documented in docs/reference/events.md.

type input struct {
	ID      string          `json:"id,omitempty"`
	Kind    event.InputKind `json:"kind,omitempty"`
	Routing event.Routing   `json:"routing,omitempty"`
	Expires *float64        `json:"expires_seconds,omitempty"`
	Prompt  string          `json:"prompt,omitempty"`
	Options json.RawMessage `json:"options,omitempty"`
	Schema  json.RawMessage `json:"schema,omitempty"`

	agent        string // the agent that asks
	acknowledged bool   // the agent has only acknowledged the call (event.Event.Pending); the answer is still to come
}

// newInput returns the request of an event. It shares memory with the event's batch.
func newInput(e *event.Event) input {
	q := e.Question()
	return input{ID: e.CallID, Kind: e.Input, Routing: e.Routing, Expires: seconds(e.ExpiresIn), Prompt: q.Prompt, Options: raw(q.Options), Schema: raw(q.Schema)}
}

// maxKeptQuestion is the size in bytes up to which a question is kept, to be repeated at the end of its run.
const maxKeptQuestion = 4 << 10

// bounded returns the part of a request that is kept until the end of its run, without memory of the batch. It leaves out a
// question that is too long. Such a question was written in full when it was asked.
func (in input) bounded() input {
	out := input{ID: in.ID, Kind: in.Kind}
	if len(in.Prompt)+len(in.Options)+len(in.Schema) <= maxKeptQuestion {
		out.Prompt, out.Options, out.Schema = in.Prompt, bytes.Clone(in.Options), bytes.Clone(in.Schema)
	}
	return out
}

// artifact is a revision of an artifact. Its pieces are left out in an A2A part that only describes it.
type artifact struct {
	ID       string             `json:"id,omitempty"`
	Name     string             `json:"name,omitempty"`
	Kind     event.ArtifactKind `json:"kind"`
	Bytes    *int64             `json:"bytes,omitempty"`
	Index    *int64             `json:"index,omitempty"`
	Append   bool               `json:"append"`
	Complete bool               `json:"complete"`
	Contents []piece            `json:"contents,omitempty"`
	More     int                `json:"more,omitempty"`
}

// piece is one piece of an artifact.
type piece struct {
	Kind   event.PieceKind `json:"kind"`
	Name   string          `json:"name,omitempty"`
	Media  string          `json:"media_type,omitempty"`
	Value  json.RawMessage `json:"value"`
	Schema json.RawMessage `json:"schema,omitempty"`
}

func newArtifact(e *event.Event, pieces []event.Piece) *artifact {
	a := &e.Artifact
	w := &artifact{e.ID, e.Name, a.Kind, count(a.Bytes), count(a.Index), a.Append, a.Complete, nil, e.Omitted}
	for i := range pieces {
		w.Contents = append(w.Contents, pieceOf(&pieces[i]))
	}
	return w
}

func pieceOf(p *event.Piece) piece {
	return piece{p.Kind, p.Name, p.Media, raw(p.Value), raw(p.Schema)}
}

type usage struct {
	Input     *int64 `json:"input_tokens,omitempty"`
	Output    *int64 `json:"output_tokens,omitempty"`
	CacheRead *int64 `json:"cache_read_tokens,omitempty"`
	Reasoning *int64 `json:"reasoning_tokens,omitempty"`
}

func newUsage(u event.Usage) *usage {
	if u == (event.Usage{}) {
		return nil
	}
	return &usage{count(u.Input), count(u.Output), count(u.CacheRead), count(u.Reasoning)}
}

// state names the keys that changed. It leaves out the size of the state, of which the reader may see only a part.
type state struct {
	Keys []string `json:"keys,omitempty"`
}

type plan struct {
	Pending    int `json:"pending"`
	InProgress int `json:"in_progress"`
	Completed  int `json:"completed"`
	Canceled   int `json:"canceled"`
}

type confidence struct {
	Value   *float64     `json:"value,omitempty"`
	Low     *float64     `json:"low,omitempty"`
	High    *float64     `json:"high,omitempty"`
	Scope   string       `json:"scope,omitempty"`
	Label   string       `json:"label,omitempty"`
	Topic   string       `json:"topic,omitempty"`
	Overall bool         `json:"overall"`
	Origin  event.Origin `json:"origin"`
}

func newConfidence(c *event.Confidence) *confidence {
	return &confidence{
		Value: optional(c.Value, c.Known), Low: optional(c.Low.Value, c.Low.Known), High: optional(c.High.Value, c.High.Known),
		Scope: c.Scope, Label: c.Label, Topic: c.Topic, Overall: c.Overall, Origin: c.Origin,
	}
}

type citation struct {
	Source    string       `json:"source"`
	Reference string       `json:"reference,omitempty"`
	URI       string       `json:"uri,omitempty"`
	Origin    event.Origin `json:"origin"`
}

func count(c event.Count) *int64 {
	return optional(c.N, c.Known)
}

func seconds(d event.Duration) *float64 {
	return optional(d.D.Seconds(), d.Known)
}

// optional returns a value, or nil if it is unknown.
func optional[T any](value T, known bool) *T {
	if !known {
		return nil
	}
	return new(value)
}
