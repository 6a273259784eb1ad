package source

import (
	"strings"
	"testing"
)

// TestInterpretations checks that a path matches a glob if any server may read it that way: a server may take an
// ambiguous spelling as a separator or literally.
func TestInterpretations(t *testing.T) {
	for glob, paths := range map[string]map[string]bool{
		"/chat/*": {
			"/chat/42": true, "/CHAT/42/": true, "//chat//42": true, "/x/../chat/a;b=c": true, "/chat/a%2fb": true, "/chat/org%2F42": true,
			"/chat/a%2F..%2F..%2Fb": true, "/chat/%2f": true, "/chat/a%2f..": true, `/chat/a\b`: true, `/chat/a\..\b%5Cc`: true, "/chat/a%5cb": true,
			"/chat/.": true, "/chat/..": true, "/chat/%2e": true, "/chat/%2E%2e": true, "/chat/.%2e": true, "/chat/;a": true, "/chat/%3ba": true,
			"/chat/%23": true, "/chat/a%23/b": true, "/chat/%20": true, "/chat/%0a": true, "/chat/a%2f%2f%5c;%23%20": true, "/chat//": true,
			"/chat/a%3fb": true, "/chat/%ff": true, "/chat/a%00": true, "/chat/..;x=y": true, `/chat\a%2fb`: true,
			"/chat": false, "/chat/": false, "/chat/a/b": false, "/other/a%2fb": false, "/chat/a%2fb/c": false, "/chats/%2e": false,
			"/chat/../a/b%2fc/d": false, "/other;/chat": false,
		},
		"/*/x/*/run": {
			"/a%23/x/../run": true, "/a#/x//run": true, "/a#/x/%20/run": true, "/a#b;c/x/%2f/run": true, "/a/x/../run#": true,
			"/a#/x/run": false,
		},
		"/x/*/run": {
			"/x/a/run": true, "/x/a%2fb/run": true, "/x/../run": true, "/x/%2e%2e/run": true, "/x//run": true, "/x/./run": true, "/x/;a/run": true,
			"/x/a%2f..%2fb/run": true, "/x/a/b/..%2frun": true, "/x/%2f/run;y": true, "/x/a%2frun": true,
			"/x/a%2fb/c/run": false, "/x/run": false, "/x/a/b/run": false, "/y/../run": false,
		},
		"/tasks/*:subscribe": {"/tasks/t%2fx:subscribe": true, "/tasks/t%3Asubscribe": true, "/tasks/..%2ft:subscribe": true, "/tasks/..": false},
		"/run_sse":           {"/run_sse%2f": true, "/%2frun_sse": true, "/run_sse%23f": true, "/run%2fsse": false, "/run_sse/a%2f..": true},
	} {
		for path, want := range paths {
			if got := interpretPath(parsePath(t, path)).match(glob); got != want {
				t.Errorf("glob %s, path %s: match = %t, interpretations %q", glob, path, got, interpretPath(parsePath(t, path)).all)
			}
		}
	}
}

// TestManyInterpretations checks that the interpretations of a long ambiguous path are not all computed. Such a path matches every glob.
func TestManyInterpretations(t *testing.T) {
	long := "/other/" + strings.Repeat("a", maxAmbiguousPath)
	if interpretPath(parsePath(t, long)).match("/chat/*") {
		t.Error("a long unambiguous path is treated as an ambiguous one")
	}
	if as := interpretPath(parsePath(t, long+"%2f")); len(as.all) != 1 || !as.match("/chat/*") || as.canonical().match("/chat/*") {
		t.Errorf("a long ambiguous path has %d interpretations", len(as.all))
	}
	if as := interpretPath(parsePath(t, `/a%2fb\c%5cd;e#f/../%2e//%20/x`)); len(as.all) != 512 {
		t.Errorf("a path with all ambiguities has %d interpretations, want 512", len(as.all))
	}
}
