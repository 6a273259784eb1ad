package wire

import (
	"bytes"
	"slices"
)

// adkPrefixes begin the names of the metadata that ADK agents add to A2A. kagent sends that of the ADK under its own prefix.
//
// Source: google/adk/a2a/converters/utils.py of google-adk 2.13; kagent/core/a2a/_consts.py of kagent-core 0.10.
var adkPrefixes = []string{"adk_", "kagent_"}

// ADKNames returns the names, each with each prefix of ADK agents.
func ADKNames(names ...string) (prefixed []string) {
	for _, name := range names {
		for _, prefix := range adkPrefixes {
			prefixed = append(prefixed, prefix+name)
		}
	}
	return prefixed
}

// CutADKPrefix returns the name of a member of metadata without the prefix of ADK agents. kagent has one name with two prefixes,
// kagent_adk_partial.
func CutADKPrefix(name []byte) (rest []byte, is bool) {
	rest = name
	for _, prefix := range slices.Backward(adkPrefixes) {
		rest = bytes.TrimPrefix(rest, []byte(prefix))
	}
	return rest, len(rest) < len(name)
}

// Names of members of A2A metadata, in all spellings of ADK agents.
var (
	ADKTypes   = append(ADKNames("type"), "adk:type", "adkType") // the kind of a part, see ADKPartKinds
	ADKAuthors = append(ADKNames("author"), "adk:author", "adkAuthor")
	ADKCustom  = ADKNames("custom_metadata")

	adkErrors      = ADKNames("error_code")
	adkActions     = ADKNames("actions")
	adkInvocations = ADKNames("invocation_id")
)
