package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// document returns the root node of the only YAML document in data.
func document(data []byte) (*yaml.Node, *Error) {
	if failure := checkText(data); failure != nil {
		return nil, failure
	}
	documents, line, err := parseYAML(data)
	if err != nil {
		return nil, syntaxError(data, line, err)
	}
	if len(documents) == 0 || isNull(documents[0].Content[0]) {
		return nil, &Error{Line: 1, Problem: "the file is empty", Remedy: "give at least one source"}
	}
	if len(documents) > 1 {
		return nil, &Error{Line: documents[1].Line, Problem: "a second document starts here", Remedy: "keep one document in the file"}
	}
	return documents[0].Content[0], nil
}

// checkText refuses text that the YAML parser would refuse without a line number or would take for UTF-16.
func checkText(data []byte) *Error {
	line := 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return &Error{Line: line, Problem: "the text is not UTF-8", Remedy: "save the file as UTF-8"}
		case r == '\n':
			line++
		case unicode.IsControl(r) && r != '\t' && r != '\r':
			return &Error{Line: line, Problem: fmt.Sprintf("the line contains the control character %U", r), Remedy: "remove it"}
		}
		i += size
	}
	return nil
}

// parseYAML parses up to two documents. It also returns the number of lines that the parser has read when it
// ended or failed.
func parseYAML(data []byte) (documents []*yaml.Node, linesRead int, err error) {
	text := &lineReader{rest: data}
	decoder := yaml.NewDecoder(text)
	for len(documents) < 2 {
		var document yaml.Node
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, text.linesRead, err
		}
		documents = append(documents, &document)
	}
	return documents, text.linesRead, nil
}

// maxReparsed is the number of bytes of a broken file that are parsed again to find the line of the error.
const maxReparsed = 16 << 20

// syntaxError returns the error with its line. The line that the parser reports is often that of an enclosing
// block, off by one, or missing. The number of lines that the parser has read is close, but too high if
// comments follow. Therefore syntaxError removes lines from the end as long as the rest fails with the same
// error. The line of the error is the last one that it keeps.
func syntaxError(data []byte, linesRead int, err error) *Error {
	problem := withoutLine(err)
	lines := bytes.SplitAfter(data, []byte("\n"))
	line := max(1, min(linesRead, len(lines)))
	for reparsed := 0; line > 1 && reparsed < maxReparsed; line-- {
		before := bytes.Join(lines[:line-1], nil)
		if _, _, err := parseYAML(before); err == nil || withoutLine(err) != problem {
			break
		}
		reparsed += len(before)
	}
	text := string(lines[line-1])
	switch indentation := text[:len(text)-len(strings.TrimLeft(text, " \t"))]; {
	case strings.Contains(indentation, "\t"):
		return &Error{Line: line, Problem: "there is a tab in the indentation", Remedy: "indent with spaces"}
	case strings.HasPrefix(problem, "unknown anchor"):
		return &Error{Line: line, Problem: "aliases are not supported", Remedy: "write the value out, or put it in quotes"}
	}
	const remedy = "check indentation, quotes and brackets here and just above"
	return &Error{Line: line, Problem: "this is not YAML: " + problem, Remedy: remedy}
}

// withoutLine returns the parser's message without "yaml: " and a line number such as "line 3: ".
func withoutLine(err error) string {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, found := strings.CutPrefix(text, "line "); found {
		return strings.TrimLeft(rest, "0123456789: ")
	}
	return text
}

// lineReader returns at most one line for each Read, and counts the lines that the parser has read.
type lineReader struct {
	rest      []byte
	linesRead int
}

func (l *lineReader) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		return 0, io.EOF
	}
	end := bytes.IndexByte(l.rest, '\n') + 1
	if end == 0 {
		end = len(l.rest)
	}
	n := copy(p, l.rest[:end])
	if l.rest = l.rest[n:]; n == end {
		l.linesRead++
	}
	return n, nil
}
