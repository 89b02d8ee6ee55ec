import { readFileSync } from 'node:fs'
import { createFileRegistry, type FileRegistry, fromBinary } from '@bufbuild/protobuf'
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'

/** Bytes of the descriptor set that `npm run generate` makes from proto/, without comments. */
export const descriptorSet: Uint8Array = readFileSync(new URL('../gen/descriptors.binpb', import.meta.url))

/** Every message, enum and service of proto/. */
export const registry: FileRegistry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet))
