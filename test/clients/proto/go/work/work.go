// Package work reads what a client is to do, and prints what it did.
package work

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"log"
	"os"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// Work is what stands on the standard input.
type Work struct {
	URL         string
	Certificate string
	Calls       map[string]Call
}

// Call is one call of an operation.
type Call struct {
	Token        string
	Organization string
	Request      json.RawMessage
}

// Failure is what a client reads of an error.
type Failure struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Reason  string `json:"reason"`
	Field   string `json:"field"`
}

// Operation makes a call of one operation.
type Operation func(context.Context, Call) (proto.Message, error)

// A search finds the machine that was added before it.
var order = []string{"UpdateMyProfile", "UpdateIDP", "AddMachineUser", "SetEmail", "AddUserGrant", "SearchUsers"}

// Read reads the work.
func Read() (work Work) {
	if err := json.NewDecoder(os.Stdin).Decode(&work); err != nil {
		log.Fatal(err)
	}
	return work
}

// TLS trusts the certificate of the work.
func (work Work) TLS() *tls.Config {
	pem, err := os.ReadFile(work.Certificate)
	if err != nil {
		log.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	return &tls.Config{RootCAs: roots}
}

// Do makes each call, then SetEmail with an empty address, and prints the answers and the error.
func (work Work) Do(operations map[string]Operation, read func(error) Failure) {
	ctx := context.Background()
	answers := map[string]json.RawMessage{}
	for _, name := range order {
		answer, err := operations[name](ctx, work.Calls[name])
		if err != nil {
			log.Fatalf("%s: %v", name, err)
		}
		if answers[name], err = protojson.Marshal(answer); err != nil {
			log.Fatal(err)
		}
	}
	call := work.Calls["SetEmail"]
	call.Request = json.RawMessage(`{"userId":"unknown","email":""}`)
	_, err := operations["SetEmail"](ctx, call)
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"answers": answers, "error": read(err)}); err != nil {
		log.Fatal(err)
	}
}

// Add puts a detail of an error into the failure.
func (failure *Failure) Add(detail any) {
	switch detail := detail.(type) {
	case *errdetails.ErrorInfo:
		failure.Reason = detail.Reason
	case *errdetails.BadRequest:
		failure.Field = detail.FieldViolations[0].Field
	}
}

// Parse reads the request of the call.
func (call Call) Parse(request proto.Message) {
	if err := protojson.Unmarshal(call.Request, request); err != nil {
		log.Fatal(err)
	}
}
