// Calls Roster with connectrpc.com/connect, in the protocol that its argument names.
package main

import (
	"context"
	"errors"
	"log"
	"net/http"
	"os"

	"connectrpc.com/connect"
	"example.com/shop/gen/roster/grants/v1/grantsv1connect"
	"example.com/shop/gen/roster/idp/v1/idpv1connect"
	"example.com/shop/gen/roster/users/v1/usersv1connect"
	"example.com/shop/work"
	"google.golang.org/protobuf/proto"
)

func main() {
	todo := work.Read()
	transport := &http.Transport{ForceAttemptHTTP2: true}
	if todo.Certificate != "" {
		transport.TLSClientConfig = todo.TLS()
	}
	options := map[string]connect.ClientOption{
		"Connect":  connect.WithClientOptions(),
		"gRPC":     connect.WithGRPC(),
		"gRPC-web": connect.WithGRPCWeb(),
	}[os.Args[1]]
	if os.Args[1] == "gRPC" && todo.Certificate == "" {
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetUnencryptedHTTP2(true)
	}
	client := &http.Client{Transport: transport}
	users := usersv1connect.NewUserServiceClient(client, todo.URL, options)
	idps := idpv1connect.NewIdentityProviderServiceClient(client, todo.URL, options)
	grants := grantsv1connect.NewUserGrantServiceClient(client, todo.URL, options)
	todo.Do(map[string]work.Operation{
		"UpdateMyProfile": operation(users.UpdateMyProfile),
		"UpdateIDP":       operation(idps.UpdateIDP),
		"AddMachineUser":  operation(users.AddMachineUser),
		"SetEmail":        operation(users.SetEmail),
		"AddUserGrant":    operation(grants.AddUserGrant),
		"SearchUsers":     operation(users.SearchUsers),
	}, readError)
}

func operation[Q, A any](
	method func(context.Context, *connect.Request[Q]) (*connect.Response[A], error),
) work.Operation {
	return func(ctx context.Context, call work.Call) (proto.Message, error) {
		request := connect.NewRequest(new(Q))
		call.Parse(any(request.Msg).(proto.Message))
		request.Header().Set("authorization", "Bearer "+call.Token)
		request.Header().Set("x-service-orgid", call.Organization)
		answer, err := method(ctx, request)
		if err != nil {
			return nil, err
		}
		return any(answer.Msg).(proto.Message), nil
	}
}

func readError(err error) work.Failure {
	var read *connect.Error
	if !errors.As(err, &read) {
		log.Fatal(err)
	}
	failure := work.Failure{Code: int(read.Code()), Message: read.Message()}
	for _, detail := range read.Details() {
		value, err := detail.Value()
		if err != nil {
			log.Fatal(err)
		}
		failure.Add(value)
	}
	return failure
}
