package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"reflect"
)

// KnownNames lists names that a configuration may use and that other packages define.
type KnownNames struct {
	Dialects []string // without DialectAuto and DialectCustom, which are always known
	Kinds    []string // kinds of events
	Paths    []string // names of paths that every frame of a Custom may have
	Meanings []Meaning
}

const maxFile = 1 << 20

// Read returns the content of a file of at most 1 MiB, for Parse. The error is an *Error.
func Read(file string) ([]byte, error) {
	data, failure := readFile(file)
	if failure != nil {
		return nil, failure
	}
	return data, nil
}

// Parse validates the content of a file. name is the file's name in errors. The error joins one *Error for each
// mistake, in the order of lines.
func Parse(name string, data []byte, known KnownNames) (Config, error) {
	root, failure := document(data)
	if failure != nil {
		failure.File = name
		return Config{}, failure
	}
	config, report := Default(), newReport(name)
	report.lines[""] = root.Line
	decoder{report}.value(root, "", reflect.ValueOf(&config).Elem())
	check(config, known, report)
	if err := report.err(); err != nil {
		return Config{}, err
	}
	return config, nil
}

func readFile(name string) ([]byte, *Error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fileError(name, err)
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.IsDir() {
		return nil, &Error{File: name, Problem: "this is a directory", Remedy: "name the file in it"}
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, fileError(name, err)
	}
	if len(data) > maxFile {
		return nil, &Error{File: name, Problem: "the file is larger than 1 MiB", Remedy: "name a configuration file"}
	}
	return data, nil
}

func fileError(name string, err error) *Error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &Error{File: name, Problem: "there is no such file", Remedy: "create it, or name the one that you have"}
	case errors.Is(err, fs.ErrPermission):
		const remedy = "make it readable for the user that runs this"
		return &Error{File: name, Problem: "permission to read the file is denied", Remedy: remedy}
	}
	if cause := errors.Unwrap(err); cause != nil { // *fs.PathError, whose text repeats the file's name
		err = cause
	}
	return &Error{File: name, Problem: "the file cannot be read: " + err.Error(), Remedy: "name a readable file"}
}
