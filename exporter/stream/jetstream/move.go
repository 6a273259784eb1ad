package jetstream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// move is the move of sessions from an old shard to a new one. Their messages stay in the queue of the old shard's
// publisher, so that a session's frames stay in order whichever shard takes them.
type move struct {
	to  *connection // to the stream of the new shard
	at  time.Time   // no session moves earlier
	now func() time.Time
}

// For moveWait before and after the move time, sidecars do not decide where a new session goes. If a session has no
// messages, gateways use its old shard until readersWait after the move time. Processes agree if their clocks differ by
// no more than moveWait, because a message is published within requestTimeout of the decision.
const (
	moveWait    = 10 * time.Second
	readersWait = time.Minute
)

// errMoveTime means that it is not decided yet which stream gets a new session.
var errMoveTime = errors.New("sessions are about to move to another shard")

// target returns the connection to the stream that takes a message. It asks NATS only if the last message of the
// subject is unknown. If it is known, NATS accepts a new message only while the last one is still there. In that case
// the session has not moved.
func (p *publisher) target(ctx context.Context, sq *subjectQueue, m *message) (to *connection, err error) {
	switch {
	case m.move == nil:
		to = p.connection
	case sq.stream != nil && sq.last != 0:
		return sq.stream, nil
	default:
		token := m.Subject[strings.LastIndexByte(m.Subject, '.')+1:]
		if to, err = m.move.locate(ctx, p.connection, token); err != nil {
			return nil, err
		}
	}
	if to != sq.stream {
		sq.stream, sq.last, sq.newest = to, 0, 0
	}
	return to, nil
}

// locate returns the connection to the stream in which a moving session is, or errMoveTime.
func (m *move) locate(ctx context.Context, from *connection, sessionToken string) (*connection, error) {
	untilMove := m.at.Sub(m.now())
	if untilMove > moveWait {
		return from, nil // the new stream need not exist yet
	}
	var failure error // ignored if the other stream holds the session
	for _, c := range []*connection{m.to, from} {
		switch holds, err := c.holds(ctx, sessionToken); {
		case err != nil:
			failure = err
		case holds:
			return c, nil
		}
	}
	if failure != nil {
		return nil, failure
	}
	if untilMove > -moveWait {
		return nil, errMoveTime
	}
	return m.to, nil
}

// holds reports whether the stream holds a message of a session. A missing stream holds nothing.
func (c *connection) holds(ctx context.Context, sessionToken string) (bool, error) {
	if !c.nats.IsConnected() {
		return false, nats.ErrDisconnected
	}
	if c.state.Load() == nil { // a managing process creates a missing stream
		if _, err := c.refresh(ctx); errors.Is(err, jetstream.ErrStreamNotFound) {
			return false, nil
		} else if err != nil {
			return false, err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	request, err := json.Marshal(map[string]string{"subjects_filter": prefix + "*." + sessionToken})
	if err != nil {
		return false, err
	}
	response, err := c.nats.RequestWithContext(ctx, jetstream.DefaultAPIPrefix+"STREAM.INFO."+c.settings.Stream, request)
	if err != nil {
		return false, fmt.Errorf("look for a session in the stream %s: %w", c.settings.Stream, err)
	}
	var info struct {
		Error *jetstream.APIError `json:"error"`
		State *struct {
			Subjects map[string]uint64 `json:"subjects"`
		} `json:"state"`
	}
	switch err := json.Unmarshal(response.Data, &info); {
	case err != nil:
		return false, fmt.Errorf("look for a session in the stream %s: %w", c.settings.Stream, err)
	case info.Error != nil && info.Error.ErrorCode == jetstream.JSErrCodeStreamNotFound:
		return false, nil
	case info.Error != nil:
		return false, info.Error
	case info.State == nil:
		return false, errors.New("look for a session: NATS did not say what the stream holds")
	}
	return len(info.State.Subjects) > 0, nil
}
