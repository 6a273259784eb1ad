package access

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// watchedAuthorizer is an Authorizer with a fake clock and its reported errors.
type watchedAuthorizer struct {
	*Authorizer
	*clock
	path    string
	reports []string
}

func watch(t *testing.T, content string) *watchedAuthorizer {
	t.Helper()
	w := &watchedAuthorizer{clock: newClock(), path: tokensAt(t, content)}
	w.Authorizer = newGate(t, Settings{TokensFile: w.path, Now: w.Now, ReportError: func(err error) { w.reports = append(w.reports, err.Error()) }})
	return w
}

func (w *watchedAuthorizer) wantReports(t *testing.T, want ...string) {
	t.Helper()
	if len(w.reports) != len(want) || w.Counts().FailedReloads != uint64(len(want)) {
		t.Fatalf("reports %q and counts %d, want %q", w.reports, w.Counts().FailedReloads, want)
	}
	for i, part := range want {
		if !strings.Contains(w.reports[i], part) {
			t.Errorf("report %d is %q, want %q in it", i, w.reports[i], part)
		}
	}
}

func TestFileIsReadAgain(t *testing.T) {
	w := watch(t, alice)
	grant, err := w.Authorize(streamRequest("/events", "Bearer "+alice))
	if err != nil {
		t.Fatal(err)
	}
	write(t, w.path, bob)
	w.advance(checkInterval - 1)
	if !granted(w.Authorizer, "Bearer "+alice) || granted(w.Authorizer, "Bearer "+bob) || !grant.Valid() {
		t.Error("looks at the file more than once a second")
	}
	w.advance(1)
	if grant.Valid() || granted(w.Authorizer, "Bearer "+alice) || !granted(w.Authorizer, "Bearer "+bob) {
		t.Error("after a second the tokens are still the old ones")
	}
	write(t, w.path, alice)
	w.advance(-time.Hour)
	if !granted(w.Authorizer, "Bearer "+alice) || !grant.Valid() {
		t.Error("a clock that was set back keeps the old tokens")
	}
	w.wantReports(t)
}

// TestSignsOfChange checks that each sign of a changed file suffices on its own.
func TestSignsOfChange(t *testing.T) {
	before := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	other := strings.Repeat("x", len(alice))
	for _, test := range []struct {
		name, content string
		inPlace       bool
		modified      time.Time
	}{
		{"another file", other, false, before},
		{"another time", other, true, before.Add(time.Nanosecond)},
		{"another size", other + "x", true, before},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := watch(t, alice)
			if err := os.Chtimes(w.path, before, before); err != nil {
				t.Fatal(err)
			}
			if err := w.Reload(); err != nil {
				t.Fatal(err)
			}
			if test.inPlace {
				if err := os.WriteFile(w.path, []byte(test.content), 0o600); err != nil {
					t.Fatal(err)
				}
			} else {
				write(t, w.path, test.content)
			}
			if err := os.Chtimes(w.path, test.modified, test.modified); err != nil {
				t.Fatal(err)
			}
			w.advance(checkInterval)
			if !granted(w.Authorizer, "Bearer "+test.content) {
				t.Error("the file is not read again")
			}
		})
	}
}

func TestFileBehindLinkIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "one"), alice)
	write(t, filepath.Join(dir, "two"), bob)
	link := filepath.Join(dir, "readers")
	if err := os.Symlink("one", link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	clock := newClock()
	g := newGate(t, Settings{TokensFile: link, Now: clock.Now})
	if err := os.Symlink("two", link+".new"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(link+".new", link); err != nil {
		t.Fatal(err)
	}
	clock.advance(checkInterval)
	if granted(g, "Bearer "+alice) || !granted(g, "Bearer "+bob) {
		t.Error("a link that leads to another file, as in a mounted secret, is not followed again")
	}
}

func TestReload(t *testing.T) {
	w := watch(t, alice)
	write(t, w.path, bob)
	if err := w.Reload(); err != nil {
		t.Fatal(err)
	}
	if granted(w.Authorizer, "Bearer "+alice) || !granted(w.Authorizer, "Bearer "+bob) {
		t.Error("a reload within a second changed nothing")
	}
	write(t, w.path, "secret")
	if err := w.Reload(); err == nil || !strings.Contains(err.Error(), w.path+":1: ") {
		t.Errorf("reload of a mistake: %v, want the file and the line", err)
	}
	w.advance(checkInterval)
	if !granted(w.Authorizer, "Bearer "+bob) || len(w.reports) > 0 || w.Counts().FailedReloads != 1 {
		t.Errorf("after a failed reload: reports %q, counts %+v; want the old token, and one failure, which Reload has returned", w.reports, w.Counts())
	}
	if err := newGate(t, Settings{AnonymousLoopback: true}).Reload(); err != nil {
		t.Errorf("reload without a file: %v", err)
	}
}

func TestMistakeKeepsTokens(t *testing.T) {
	w := watch(t, alice)
	ask := func(times int) {
		t.Helper()
		for range times {
			w.advance(checkInterval)
			if !granted(w.Authorizer, "Bearer "+alice) || granted(w.Authorizer, "Bearer "+bob) {
				t.Fatal("the tokens are not those from before the mistake")
			}
		}
	}
	write(t, w.path, bob+"\n"+bob[:10])
	ask(3)
	w.wantReports(t, w.path+":2: ")
	write(t, w.path, bob+"\n"+bob[:11])
	ask(3)
	w.wantReports(t, w.path+":2: ", w.path+":2: ")
	write(t, w.path, strings.Repeat("#\n", maxFile/2)+"#")
	ask(3)
	w.wantReports(t, ":2: ", ":2: ", "is larger than 1048576 bytes")
	if err := os.Remove(w.path); err != nil {
		t.Fatal(err)
	}
	ask(3)
	w.wantReports(t, ":2: ", ":2: ", "larger", "must name a file that delegraph can read")

	write(t, w.path, bob)
	w.advance(checkInterval)
	if granted(w.Authorizer, "Bearer "+alice) || !granted(w.Authorizer, "Bearer "+bob) {
		t.Error("a file put right is not read")
	}
	if err := os.Remove(w.path); err != nil {
		t.Fatal(err)
	}
	w.advance(checkInterval)
	w.current()
	w.wantReports(t, ":2: ", ":2: ", "larger", "must name", "must name")
}

func (w *watchedAuthorizer) current() { w.tokens.current() }

func TestEmptiedFileRevokesAll(t *testing.T) {
	w := watch(t, alice)
	write(t, w.path, "# nobody\n")
	w.advance(checkInterval)
	if granted(w.Authorizer, "Bearer "+alice) {
		t.Error("a token that left with all others is still good")
	}
	if warning := w.Warning(); warning == nil || !strings.Contains(warning.Error(), "contains no tokens") {
		t.Errorf("warning %v, want that there is no token", warning)
	}
}

func TestGrantEndsWithItsSessions(t *testing.T) {
	for _, test := range []struct {
		name, before, after string
		want                bool
	}{
		{"same", " session=a session=b", " session=b session=a", true},
		{"another name", " session=a", " session=a name=x", true},
		{"fewer", " session=a session=b", " session=a", false},
		{"more", " session=a", " session=a session=b", false},
		{"bound", "", " session=a", false},
		{"unbound", " session=a", "", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := watch(t, alice+test.before)
			grant, err := w.Authorize(streamRequest("/events", "Bearer "+alice))
			if err != nil {
				t.Fatal(err)
			}
			write(t, w.path, alice+test.after)
			w.advance(checkInterval)
			if got := grant.Valid(); got != test.want {
				t.Errorf("the grant is valid: %v, want %v", got, test.want)
			}
		})
	}
}

// TestNobodyWaitsForAnothersReading checks that a read that hangs does not block other requests.
func TestNobodyWaitsForAnothersReading(t *testing.T) {
	w := watch(t, alice)
	w.tokens.mu.Lock()
	defer w.tokens.mu.Unlock()
	w.advance(checkInterval)
	if !granted(w.Authorizer, "Bearer "+alice) {
		t.Error("a token is refused while the file is read")
	}
}

func TestWarning(t *testing.T) {
	for _, test := range []struct {
		mode os.FileMode
		want string
	}{
		{0o600, ""}, {0o400, ""}, {0o644, "has mode 0644"}, {0o640, "has mode 0640"}, {0o602, "has mode 0602"},
	} {
		w := watch(t, alice)
		if err := os.Chmod(w.path, test.mode); err != nil {
			t.Fatal(err)
		}
		w.advance(checkInterval)
		w.current()
		got := w.Warning()
		if (got == nil) != (test.want == "") || got != nil && !strings.Contains(got.Error(), test.want) {
			t.Errorf("mode %#o: warning %v, want %q", test.mode, got, test.want)
		}
	}
	if err := newGate(t, Settings{AnonymousLoopback: true}).Warning(); err != nil {
		t.Errorf("without a file: %v", err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, test := range []struct {
		name, path, want string
	}{
		{"no file", filepath.Join(t.TempDir(), "none"), "no such file"},
		{"folder", t.TempDir(), "is not a regular file"},
		{"mistake", tokensAt(t, "short"), ":1: "},
		{"huge", tokensAt(t, strings.Repeat("#", maxFile+1)), "is larger than"},
	} {
		g, err := New(Settings{TokensFile: test.path})
		if g != nil || err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, %v; want an error with %q", test.name, g, err, test.want)
		}
	}
}
