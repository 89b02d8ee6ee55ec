import { readFileSync } from 'node:fs'
import { create, createFileRegistry, type FileRegistry, fromBinary } from '@bufbuild/protobuf'
import {
  type DescriptorProto,
  FieldDescriptorProto_Label,
  FieldDescriptorProto_Type,
  FieldDescriptorProtoSchema,
  FileDescriptorSetSchema,
} from '@bufbuild/protobuf/wkt'
import { descriptorSet } from '../../../lib/registry.ts'

/** Everything of proto/ and of the suite. */
export const registry: FileRegistry = createFileRegistry(joinSets())
export { descriptorSet }

function joinSets() {
  const set = fromBinary(FileDescriptorSetSchema, descriptorSet)
  const own = fromBinary(FileDescriptorSetSchema, readFileSync(process.env['CONFORMANCE_DESCRIPTORS']!))
  for (const file of own.file) {
    if (set.file.some(({ name }) => name === file.name)) continue
    for (const message of file.messageType) if (message.name.startsWith('ServerStreamRe')) addCursor(message)
    set.file.push(file)
  }
  return set
}

// The gateway asks for each message of a stream with the cursor of the last one. The suite does not know the field.
function addCursor({ field }: DescriptorProto): void {
  const { STRING: type } = FieldDescriptorProto_Type
  const label = FieldDescriptorProto_Label.OPTIONAL
  field.push(create(FieldDescriptorProtoSchema, { name: 'cursor', jsonName: 'cursor', number: 1000, type, label }))
}
