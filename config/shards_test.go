package config

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestOf checks what a shard inherits.
func TestOf(t *testing.T) {
	whole := Default().Stream.JetStream
	whole.URLs, whole.CredentialsFile, whole.TLS = []string{"nats://all"}, "all.creds", ClientTLS{CAFile: "all.pem", CertFile: "c", KeyFile: "k"}
	for name, c := range map[string]struct {
		shard  Shard
		change func(*JetStream)
	}{
		"everything": {Shard{Name: "a", Gateway: "https://a"}, func(*JetStream) {}},
		"urls":       {Shard{URLs: []string{"nats://a"}}, func(j *JetStream) { j.URLs = []string{"nats://a"} }},
		"stream":     {Shard{Stream: "A"}, func(j *JetStream) { j.Stream = "A" }},
		"nkey":       {Shard{NKeyFile: "a.nk"}, func(j *JetStream) { j.CredentialsFile, j.NKeyFile = "", "a.nk" }},
		"creds":      {Shard{CredentialsFile: "a.creds"}, func(j *JetStream) { j.CredentialsFile = "a.creds" }},
		"tls":        {Shard{TLS: ClientTLS{CAFile: "a.pem"}}, func(j *JetStream) { j.TLS = ClientTLS{CAFile: "a.pem"} }},
	} {
		want := whole
		c.change(&want)
		if diff := cmp.Diff(want, whole.Of(c.shard)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
