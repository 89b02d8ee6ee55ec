// Prints where Roster's copies of third-party files, in the descriptor set on the standard input, say something else
// than the official files that every Go program links.
package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	_ "buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	_ "google.golang.org/genproto/googleapis/api/annotations"
	_ "google.golang.org/genproto/googleapis/rpc/errdetails"
	_ "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

func main() {
	bytes, err := io.ReadAll(os.Stdin)
	if err != nil {
		log.Fatal(err)
	}
	set := new(descriptorpb.FileDescriptorSet)
	if err := proto.Unmarshal(bytes, set); err != nil {
		log.Fatal(err)
	}
	files, err := protodesc.NewFiles(set)
	if err != nil {
		log.Fatal(err)
	}
	files.RangeFiles(func(file protoreflect.FileDescriptor) bool {
		if !strings.HasPrefix(file.Path(), "roster/") && !strings.HasPrefix(file.Path(), "zitadel/") &&
			!strings.HasPrefix(file.Path(), "google/protobuf/") {
			fmt.Println(file.Path())
			compareFile(file)
		}
		return true
	})
}

func compareFile(file protoreflect.FileDescriptor) {
	official, err := protoregistry.GlobalFiles.FindFileByPath(file.Path())
	if err != nil {
		log.Fatal(err)
	}
	own, theirs := packages(file), packages(official)
	if own != theirs {
		fmt.Printf("%s: %s, not %s\n", file.Path(), own, theirs)
	}
	for i := range file.Extensions().Len() {
		compareField(file.Extensions().Get(i))
	}
	compareMessages(file.Messages())
}

func packages(file protoreflect.FileDescriptor) string {
	options := file.Options().(*descriptorpb.FileOptions)
	return fmt.Sprint(options.GetGoPackage(), options.GetJavaPackage(), options.GetJavaMultipleFiles(),
		options.GetJavaOuterClassname())
}

func compareMessages(messages protoreflect.MessageDescriptors) {
	for i := range messages.Len() {
		compareMessages(messages.Get(i).Messages())
		for j := range messages.Get(i).Fields().Len() {
			compareField(messages.Get(i).Fields().Get(j))
		}
	}
}

func compareField(field protoreflect.FieldDescriptor) {
	official, err := protoregistry.GlobalFiles.FindDescriptorByName(field.FullName())
	if err != nil {
		fmt.Printf("%s is not there\n", field.FullName())
	} else if own, theirs := spell(field), spell(official.(protoreflect.FieldDescriptor)); own != theirs {
		fmt.Printf("%s: %s, not %s\n", field.FullName(), own, theirs)
	}
}

func spell(field protoreflect.FieldDescriptor) string {
	text := fmt.Sprint(field.Number(), " ", field.Cardinality(), " ", field.Kind(), " ", field.JSONName(), " of ",
		field.ContainingMessage().FullName(), " packed ", field.IsPacked(), " presence ", field.HasPresence())
	if field.Message() != nil {
		text += fmt.Sprint(" ", field.Message().FullName())
	}
	if field.ContainingOneof() != nil {
		text += fmt.Sprint(" in ", field.ContainingOneof().Name())
	}
	return text
}
