// Command readers prints each frame of a stream as JSON, and continues after the last one if the connection breaks.
//
//	DELEGRAPH_TOKEN=TOKEN go run reader.go http://127.0.0.1:10478/events
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"log"
	"net/http"
	"os"
	"strings"
	"time"
)

type frame struct {
	ID    string `json:"id"`
	Event string `json:"event,omitempty"`
	Data  string `json:"data"`
}

func main() {
	for last := ""; ; <-time.After(time.Second) {
		log.Print(read(os.Args[1], &last))
	}
}

// read reads one connection. It keeps in last the id from which the next one continues.
func read(url string, last *string) error {
	request, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Last-Event-ID", *last)
	if token := os.Getenv("DELEGRAPH_TOKEN"); token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	var f frame
	for lines := bufio.NewReader(response.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return err // what a broken connection cuts is dropped
		}
		line = strings.TrimRight(line, "\r\n")
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "": // the end of a frame
			if f.ID != "" {
				*last = f.ID // also of a frame without data
			}
			if f.Data != "" {
				f.Data = strings.TrimSuffix(f.Data, "\n")
				if err := json.NewEncoder(os.Stdout).Encode(f); err != nil {
					return err
				}
			}
			f = frame{}
		case name == "id":
			f.ID = value
		case name == "event":
			f.Event = value
		case name == "data":
			f.Data += value + "\n"
		}
	}
}
