package jetstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.yaml.in/yaml/v3"
)

// A second nkey for tests.
const (
	otherSeed = "SUAGIP6QKG6IT2MWPWLX6L3TWMKYHEULAQEXMJ6STPQCDQL54JHJMZGC5I"
	otherUser = "UBMHEURCXBYDDGWWWF762I6YF3QQ3OIVZAZYNST65XGLKT3RRSFSHVDK"
)

// documented returns the permissions in NATS of examples/gateways for the two given keys.
func documented(t *testing.T, users ...string) string {
	t.Helper()
	values, err := os.ReadFile("../../../examples/gateways/nats.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var chart struct {
		Config struct {
			Merge struct {
				Authorization struct {
					Users []map[string]any
				}
			}
		}
	}
	if err := yaml.Unmarshal(values, &chart); err != nil {
		t.Fatal(err)
	}
	authorization := chart.Config.Merge.Authorization
	if len(authorization.Users) != len(users) {
		t.Fatalf("the documented configuration has %d users", len(authorization.Users))
	}
	for i, user := range users {
		authorization.Users[i]["nkey"] = user
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // the server does not decode \u003e
	if err := encoder.Encode(authorization.Users); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("authorization { users: %s }", text.String())
}

// TestDocumentedPermissions checks that a sidecar and a gateway work with the permissions in examples/gateways/nats.yaml.
// Neither may have a permission that only the other one needs.
func TestDocumentedPermissions(t *testing.T) {
	folder := t.TempDir()
	sidecarKey, gatewayKey := filepath.Join(folder, "sidecar.nk"), filepath.Join(folder, "gateway.nk")
	for file, seed := range map[string]string{sidecarKey: nkeySeed, gatewayKey: otherSeed} {
		if err := os.WriteFile(file, []byte(seed+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newServer(t, documented(t, nkeyUser, otherUser))
	sidecar, _ := s.open(func(set *Settings) { set.NKeyFile = sidecarKey })
	second, _ := s.open(func(set *Settings) { set.NKeyFile, set.Limits.MaxMessagesPerSubject = sidecarKey, 9_000 }) // which changes the limits
	gateway, _ := s.open(func(set *Settings) { set.NKeyFile, set.Publish = gatewayKey, false })
	one, all := attach(t, gateway, "", "c1"), attach(t, gateway, "")
	publishAll(t, sidecar, "c1", 0, 2)
	one.wants("c1-0", "c1-1")
	publishAll(t, second, "c2", 0, 1)
	all.wants("c1-0", "c1-1", "c2-0")
	for _, store := range []*Store{gateway, second, sidecar} {
		if err := store.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	s.kill() // stop writing to the log
	if strings.Contains(s.log.String(), "Violation") {
		t.Errorf("Delegraph lacks a permission:\n%s", s.log)
	}

	s.start()
	for subject, key := range map[string]string{
		"delegraph.v1.YQ.YQ":                        gatewayKey,
		"$JS.API.STREAM.UPDATE.DELEGRAPH":           gatewayKey,
		"$JS.API.STREAM.PURGE.DELEGRAPH":            gatewayKey,
		"$JS.API.CONSUMER.CREATE.DELEGRAPH.a":       sidecarKey,
		"$JS.API.CONSUMER.MSG.NEXT.DELEGRAPH.a":     sidecarKey,
		"$JS.API.STREAM.MSG.GET.DELEGRAPH":          sidecarKey,
		"$JS.API.DIRECT.GET.DELEGRAPH.delegraph.v1": sidecarKey,
		"$JS.API.STREAM.DELETE.DELEGRAPH":           sidecarKey,
	} {
		identity, err := nats.NkeyOptionFromSeed(key)
		if err != nil {
			t.Fatal(err)
		}
		refused := make(chan error, 1)
		c, err := nats.Connect(s.url(), identity, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(c.Publish(subject, nil), c.Flush()); err != nil {
			t.Error(err)
		}
		select {
		case err := <-refused:
			if !errors.Is(err, nats.ErrPermissionViolation) {
				t.Errorf("%s: %v", subject, err)
			}
		case <-time.After(patient):
			t.Errorf("%s may do %s", filepath.Base(key), subject)
		}
		c.Close()
	}
}
