package stream

import "github.com/delegraph/delegraph/exporter/stream/replay"

// Observer is told what happens. Its methods are called by many goroutines at once and do not block.
type Observer interface {
	Subscribers(n int)       // how many are connected now; calls are in order
	Sent(frames int)         // to one subscriber
	Dropped(replay.Drop)     // one frame, before it was published
	Disconnected(Disconnect) // one subscriber
	Refused(Refusal, Answer) // one request for a stream
	Resumed(Outcome)         // one subscriber that came with an id
}

// Disconnect says why a subscriber's stream ended.
type Disconnect string

// The closed set of disconnects.
const (
	ClientLeft   Disconnect = "client_left"
	FellOff      Disconnect = "fell_off"      // it read too slowly: its next frame is no longer held
	WriteTimeout Disconnect = "write_timeout" // it took nothing for as long as a write may last
	LifeOver     Disconnect = "life_over"     // it was connected as long as one may be
	Expired      Disconnect = "expired"       // its grant ended
	Revoked      Disconnect = "revoked"       // its grant was taken back
	Shutdown     Disconnect = "shutdown"
	Restarted    Disconnect = "restarted" // the store began anew: its ids are others
)

// Disconnects lists every disconnect.
func Disconnects() []Disconnect {
	return []Disconnect{ClientLeft, FellOff, WriteTimeout, LifeOver, Expired, Revoked, Shutdown, Restarted}
}

// Refusal says why a request was given no stream.
type Refusal string

// The closed set of refusals.
const (
	NotRefused   Refusal = ""
	Unauthorized Refusal = "unauthorized"
	Full         Refusal = "full"       // as many subscribers as there may be
	TokenFull    Refusal = "token_full" // as many of this token as there may be
	Draining     Refusal = "draining"
	Unavailable  Refusal = "unavailable" // the store has not been reached yet
	FeedsFull    Refusal = "feeds_full"  // as many feeds out of the store as there may be
)

// Refusals lists every refusal.
func Refusals() []Refusal {
	return []Refusal{Unauthorized, Full, TokenFull, Draining, Unavailable, FeedsFull}
}

// Answer is the form of a refusal.
type Answer string

// The closed set of answers.
const (
	AnswerStatus Answer = "status" // an error status, with Retry-After where it may help
	AnswerRetry  Answer = "retry"  // an empty stream that says when to come back: after an error status a browser never would
)

// Answers lists every answer.
func Answers() []Answer { return []Answer{AnswerStatus, AnswerRetry} }

// Outcome says what became of a resume: Continued, or the reason of the gap.
type Outcome string

// Continued says that the stream went on exactly behind the id.
const Continued Outcome = "continued"

// Outcomes lists every outcome.
func Outcomes() []Outcome {
	all := []Outcome{Continued}
	for _, reason := range replay.Reasons() {
		if reason != replay.Lost { // which is no matter of the id
			all = append(all, Outcome(reason))
		}
	}
	return all
}
