package sidecar

import (
	"log/slog"
	"strings"

	"github.com/delegraph/delegraph/collector/budget"
	"github.com/delegraph/delegraph/collector/recovery"
	"github.com/delegraph/delegraph/config"
	"github.com/delegraph/delegraph/exporter/stream/jetstream"
	"github.com/delegraph/delegraph/exporter/stream/replay"
)

// minQueue is the smallest queue of a shard, in bytes.
const minQueue = 64 << 10

// storeSettings returns the settings of the NATS stream. If there are shards, they are the settings that all shards share.
func storeSettings(c config.Stream, publish bool, memory *budget.Account, counters jetstream.Observer, panics *recovery.Recorder, logger *slog.Logger) jetstream.Settings {
	j := c.JetStream
	set := jetstream.Settings{
		ManageStream: j.Manage, Publish: publish,
		Limits: jetstream.Limits{
			Replicas: j.Replicas, MaxAge: j.MaxAge, MaxBytes: int64(j.MaxBytes), MaxMessagesPerSubject: int64(j.MaxMessages),
			MaxMessageBytes: int32(j.MaxMessage), DuplicateWindow: j.Duplicates,
		},
		QueueBytes: int(j.Queue), MaxFeeds: j.MaxFeeds, FeedBytes: min(int(j.AllFeeds), memory.Limit()),
		Ring:     replay.Settings{Memory: memory, Frames: c.Replay.Frames, Bytes: int(j.FeedBytes), Age: c.Replay.Age},
		Observer: counters, Logger: logger, Panics: panics,
	}
	return connectionSettings(set, j)
}

// connectionSettings returns the settings with the connection and the name of one stream.
func connectionSettings(set jetstream.Settings, j config.JetStream) jetstream.Settings {
	set.URLs, set.CredentialsFile, set.NKeyFile, set.Stream = j.URLs, j.CredentialsFile, j.NKeyFile, j.Stream
	set.CAFile, set.CertFile, set.KeyFile = j.TLS.CAFile, j.TLS.CertFile, j.TLS.KeyFile
	return set
}

// storeLayout returns the shards of a configuration: one without a name if it has none.
func storeLayout(c config.Stream, common jetstream.Settings) (jetstream.Layout, error) {
	j := c.JetStream
	if len(j.Shards) == 0 {
		return jetstream.Layout{Shards: []jetstream.Shard{{Settings: common}}}, nil
	}
	at, err := j.MoveTime()
	if err != nil {
		return jetstream.Layout{}, err
	}
	common.QueueBytes = max(common.QueueBytes/len(j.Shards), minQueue) // an unreachable shard must not fill the queues of the others
	l := jetstream.Layout{Serve: j.Serve, Previous: j.Previous, MoveAt: at}
	for _, s := range j.Shards {
		l.Shards = append(l.Shards, jetstream.Shard{
			Name: s.Name, Settings: connectionSettings(common, j.Of(s)), Gateway: strings.TrimRight(s.Gateway, "/"),
		})
	}
	return l, nil
}
