// Package task reads what an OAuth client is to do, and prints what it did.
package task

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"log"
	"net/http"
	"os"
	"strings"
)

// Task is what stands on the standard input.
type Task struct {
	Issuer, Certificate, ClientID, ClientSecret string
	// Where a person comes back to.
	RedirectURI string
}

var input = json.NewDecoder(os.Stdin)

// Read reads the task.
func Read() (task Task) {
	Must(input.Decode(&task))
	return task
}

// Client trusts the certificate of the task.
func (task Task) Client() *http.Client {
	transport := &http.Transport{ForceAttemptHTTP2: true}
	if task.Certificate != "" {
		pem, err := os.ReadFile(task.Certificate)
		Must(err)
		transport.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
		transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem)
	}
	return &http.Client{Transport: transport}
}

// Print verifies the token and one with another signature, and prints the subject and the refusal.
func Print(token string, verify func(token string) (subject string, err error)) {
	subject, err := verify(token)
	Must(err)
	_, err = verify(Forge(token))
	Must(json.NewEncoder(os.Stdout).Encode(map[string]any{"subject": subject, "refused": err != nil}))
}

// Forge gives a JWT another signature.
func Forge(token string) string {
	return token[:strings.LastIndex(token, ".")] + "." + strings.Repeat("A", 86)
}

// Must ends the program where there is an error.
func Must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
