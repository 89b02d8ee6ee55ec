// A client of grpc-go over TLS: it takes calls as JSON on its standard input, and writes how each of them ended.
package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log"
	"os"
	"time"

	"github.com/golang/protobuf/proto"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

type call struct {
	Path     string
	Metadata map[string]string
	Gzip     bool
	Stream   bool
	Message  []byte
}

type ending struct {
	Answers [][]byte `json:"answers"`
	Code    uint32   `json:"code"`
	Status  []byte   `json:"status"`
}

type bytesCodec struct{}

func (bytesCodec) Marshal(v interface{}) ([]byte, error)   { return *v.(*[]byte), nil }
func (bytesCodec) Unmarshal(b []byte, v interface{}) error { *v.(*[]byte) = b; return nil }
func (bytesCodec) Name() string                            { return "proto" }

func main() {
	var input struct {
		Address string
		CA      string
		Calls   []call
	}
	check(json.NewDecoder(os.Stdin).Decode(&input))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(input.CA))
	secure := credentials.NewTLS(&tls.Config{RootCAs: pool, ServerName: "localhost"})
	connection, err := grpc.Dial(input.Address, grpc.WithTransportCredentials(secure),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(bytesCodec{})))
	check(err)
	endings := []ending{}
	for _, each := range input.Calls {
		endings = append(endings, perform(connection, each))
	}
	check(json.NewEncoder(os.Stdout).Encode(endings))
}

func perform(connection *grpc.ClientConn, each call) ending {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	ctx = metadata.NewOutgoingContext(ctx, metadata.New(each.Metadata))
	options := []grpc.CallOption{}
	if each.Gzip {
		options = append(options, grpc.UseCompressor(gzip.Name))
	}
	end := ending{Answers: [][]byte{}}
	var err error
	if each.Stream {
		err = follow(ctx, connection, each, options, &end)
	} else {
		var answer []byte
		if err = connection.Invoke(ctx, each.Path, &each.Message, &answer, options...); err == nil {
			end.Answers = append(end.Answers, answer)
		}
	}
	end.Code = uint32(status.Code(err))
	end.Status, _ = proto.Marshal(status.Convert(err).Proto())
	return end
}

func follow(ctx context.Context, connection *grpc.ClientConn, each call, options []grpc.CallOption, end *ending) error {
	stream, err := connection.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, each.Path, options...)
	if err == nil {
		err = stream.SendMsg(&each.Message)
	}
	if err == nil {
		err = stream.CloseSend()
	}
	for err == nil {
		var answer []byte
		if err = stream.RecvMsg(&answer); err == nil {
			end.Answers = append(end.Answers, answer)
		}
	}
	if err == io.EOF {
		return nil
	}
	return err
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
