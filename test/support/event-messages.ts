import { create, createFileRegistry, type FileRegistry } from '@bufbuild/protobuf'
import { FieldDescriptorProto_Type, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'

/** Messages that replace those of proto/. Each has a name in `roster.events.v1` and the given fields, all texts. */
export function testMessages(messages: Record<string, string[]>): FileRegistry {
  const messageType = Object.entries(messages).map(([name, fields]) => ({
    name,
    field: fields.map((field, index) => ({
      name: field,
      jsonName: field,
      number: index + 1,
      type: FieldDescriptorProto_Type.STRING,
    })),
  }))
  const file = { name: 'test.proto', package: 'roster.events.v1', syntax: 'proto3', messageType }
  return createFileRegistry(create(FileDescriptorSetSchema, { file: [file] }))
}
