package task

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
)

// Visit has a person's browser go to a URL, and returns the query with which the browser comes back.
func (task Task) Visit(link, state string) url.Values {
	Must(json.NewEncoder(os.Stdout).Encode(map[string]any{"visit": link}))
	var said struct{ Came string }
	Must(input.Decode(&said))
	back, err := url.Parse(said.Came)
	Must(err)
	answer := back.Query()
	if answer.Get("state") != state || answer.Get("iss") != task.Issuer {
		Must(errors.New("not the answer to this request: " + said.Came))
	}
	return answer
}

// Person is what a client learned of who signed in.
type Person struct {
	// Subject is of the ID token, Refreshed of the one that came with a refresh.
	Subject   string `json:"subject"`
	Refreshed string `json:"refreshed"`
	// Name is from userinfo.
	Name string `json:"name"`
	// Refused says whether an ID token with another signature was.
	Refused bool `json:"refused"`
}

// Print prints it.
func (person Person) Print() {
	Must(json.NewEncoder(os.Stdout).Encode(person))
}
