// Go's net/http, led by the environment. Lines: see lines.mjs.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
)

func say(words ...string) {
	for i, word := range words {
		words[i] = strings.Join(strings.Fields(word), " ")
		if words[i] == "" {
			words[i] = "-"
		}
	}
	fmt.Println(strings.Join(words, "\t"))
}

func send(method, url, operation, text string) (*http.Response, error) {
	var body io.Reader
	if operation != "" {
		data, _ := json.Marshal(map[string]string{"text": text})
		body = strings.NewReader(string(data))
	}
	request, err := http.NewRequest(method, url, body)
	if err != nil {
		return nil, err
	}
	if operation != "" {
		request.Header.Set("Operation-Id", operation)
		request.Header.Set("Content-Type", "application/json")
	}
	return http.DefaultClient.Do(request)
}

func answer(response *http.Response, err error) error {
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil {
		say("answer", fmt.Sprint(response.StatusCode), response.Header.Get("Idempotent-Replayed"), string(body))
	}
	return err
}

func events(url string) error {
	response, err := send("GET", url, "", "")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "data: ") {
			say("event", lines.Text()[6:])
		}
	}
	say("end")
	return lines.Err()
}

func blind(url string) error {
	response, err := send("GET", url, "", "")
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var seen struct {
		Protocol string
		Via      *string
	}
	if err := json.NewDecoder(response.Body).Decode(&seen); err != nil {
		return err
	}
	if seen.Via != nil {
		seen.Protocol = "through " + *seen.Via
	}
	say("blind", response.TLS.PeerCertificates[0].Issuer.CommonName, seen.Protocol)
	return nil
}

func main() {
	say("ready", runtime.Version(), "environment")
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		words := append(strings.Split(input.Text(), "\t"), "", "", "")
		var err error
		switch words[0] {
		case "write":
			err = answer(send("POST", words[1], words[2], words[3]))
		case "read":
			err = answer(send("GET", words[1], "", ""))
		case "events":
			err = events(words[1])
		case "blind":
			err = blind(words[1])
		}
		if err != nil {
			say("error", fmt.Sprintf("%T", err), err.Error())
		}
	}
}
