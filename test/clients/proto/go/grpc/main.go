// Calls Roster with google.golang.org/grpc.
package main

import (
	"context"
	"log"
	"net/url"

	// protovalidate and Roster's files know the same rules: to link both must not panic.
	_ "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	grantsv1 "example.com/shop/gen/roster/grants/v1"
	idpv1 "example.com/shop/gen/roster/idp/v1"
	usersv1 "example.com/shop/gen/roster/users/v1"
	"example.com/shop/work"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

func main() {
	todo := work.Read()
	address, err := url.Parse(todo.URL)
	if err != nil {
		log.Fatal(err)
	}
	transport := insecure.NewCredentials()
	if todo.Certificate != "" {
		transport = credentials.NewTLS(todo.TLS())
	}
	connection, err := grpc.NewClient(address.Host, grpc.WithTransportCredentials(transport))
	if err != nil {
		log.Fatal(err)
	}
	users := usersv1.NewUserServiceClient(connection)
	idps := idpv1.NewIdentityProviderServiceClient(connection)
	grants := grantsv1.NewUserGrantServiceClient(connection)
	todo.Do(map[string]work.Operation{
		"UpdateMyProfile": operation(users.UpdateMyProfile),
		"UpdateIDP":       operation(idps.UpdateIDP),
		"AddMachineUser":  operation(users.AddMachineUser),
		"SetEmail":        operation(users.SetEmail),
		"AddUserGrant":    operation(grants.AddUserGrant),
		"SearchUsers":     operation(users.SearchUsers),
	}, readError)
}

func operation[Q, A any](method func(context.Context, *Q, ...grpc.CallOption) (*A, error)) work.Operation {
	return func(ctx context.Context, call work.Call) (proto.Message, error) {
		request := new(Q)
		call.Parse(any(request).(proto.Message))
		answer, err := method(metadata.AppendToOutgoingContext(ctx,
			"authorization", "Bearer "+call.Token,
			"x-service-orgid", call.Organization,
		), request)
		return any(answer).(proto.Message), err
	}
}

func readError(err error) work.Failure {
	read := status.Convert(err)
	failure := work.Failure{Code: int(read.Code()), Message: read.Message()}
	for _, detail := range read.Details() {
		failure.Add(detail)
	}
	return failure
}
