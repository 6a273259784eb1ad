package stream

import "github.com/delegraph/delegraph/exporter/stream/replay"

// Observer receives the events of a Hub. Its methods are called concurrently and must not block.
type Observer interface {
	SetSubscribers(n int)                  // the current number; calls are in order
	CountSent(frames int)                  // frames written, once for each subscriber
	CountDropped(replay.Drop)              // one frame was dropped instead of published
	CountDisconnect(Disconnect)            // one subscriber was disconnected
	CountRefusal(Refusal, RefusalResponse) // one request was refused
	CountResume(ResumeOutcome)             // one subscriber connected with a Last-Event-ID
}

// Disconnect says why a subscriber was disconnected. The values are label values of a metric.
type Disconnect string

// The possible disconnects.
const (
	ClientLeft       Disconnect = "client_left"
	TooSlow          Disconnect = "fell_off"      // the subscriber's next frame was evicted before it was read
	WriteTimeout     Disconnect = "write_timeout" // the client accepted no data within the write deadline
	LifetimeExceeded Disconnect = "life_over"     // the connection reached its maximum lifetime
	GrantExpired     Disconnect = "expired"
	GrantRevoked     Disconnect = "revoked"
	Shutdown         Disconnect = "shutdown"
	StoreRestarted   Disconnect = "restarted" // the store was recreated, which changes all ids
	Moved            Disconnect = "moved"     // the session is in another shard now
)

// Disconnects lists every disconnect.
func Disconnects() []Disconnect {
	return []Disconnect{ClientLeft, TooSlow, WriteTimeout, LifetimeExceeded, GrantExpired, GrantRevoked, Shutdown, StoreRestarted, Moved}
}

// Refusal says why a request was refused a stream. The values are label values of a metric.
type Refusal string

// The possible refusals.
const (
	NotRefused      Refusal = ""
	Unauthorized    Refusal = "unauthorized"
	SubscriberLimit Refusal = "full"
	TokenLimit      Refusal = "token_full"
	MemoryLimit     Refusal = "memory" // no room in the memory budget
	Draining        Refusal = "draining"
	Unavailable     Refusal = "unavailable" // the store has not been reached yet
	FeedLimit       Refusal = "feeds_full"
	ArrivalLimit    Refusal = "rate"        // too many subscribers arrived at once
	OtherShard      Refusal = "other_shard" // this process does not serve the session's shard
)

// Refusals of invalid requests. They are not counted.
const (
	ShardRequired Refusal = "shard_required" // the request selects several sessions and names no shard
	UnknownShard  Refusal = "unknown_shard"
)

// Refusals lists every refusal that is counted.
func Refusals() []Refusal {
	return []Refusal{Unauthorized, SubscriberLimit, TokenLimit, MemoryLimit, Draining, Unavailable, FeedLimit, ArrivalLimit, OtherShard}
}

// RefusalResponse says how a request was refused.
type RefusalResponse string

// The possible responses.
const (
	StatusResponse   RefusalResponse = "status"   // an error status, with Retry-After if a retry may help
	RedirectResponse RefusalResponse = "redirect" // the address of another gateway
	RetryResponse    RefusalResponse = "retry"    // an empty stream with a retry time: browsers do not reconnect after an error status
)

// RefusalResponses lists every response.
func RefusalResponses() []RefusalResponse {
	return []RefusalResponse{StatusResponse, RedirectResponse, RetryResponse}
}

// ResumeOutcome is the result of a resume: ResumeContinued, or the reason for the gap.
type ResumeOutcome string

// ResumeContinued means that the stream continued right after the requested id.
const ResumeContinued ResumeOutcome = "continued"

// ResumeOutcomes lists every outcome.
func ResumeOutcomes() []ResumeOutcome {
	all := []ResumeOutcome{ResumeContinued}
	for _, reason := range replay.GapReasons() {
		if reason != replay.GapLost { // GapLost does not depend on the requested id
			all = append(all, ResumeOutcome(reason))
		}
	}
	return all
}
