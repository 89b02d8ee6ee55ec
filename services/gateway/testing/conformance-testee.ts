import { readFileSync, readSync, writeSync } from 'node:fs'
import { create, createFileRegistry, type DescMessage, fromBinary, toBinary, toJsonString } from '@bufbuild/protobuf'
import { Edition, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt'
import { readRequest } from '../protocols/json/read.ts'

// The program that the conformance suite of the protobuf project talks to, over its standard input and output: it reads
// and writes JSON as the gateway does. The first argument is the descriptors of the suite.
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(process.argv[2]!)))
const [asked, answered] = ['Request', 'Response'].map((name) => registry.getMessage(`conformance.Conformance${name}`)!)

interface Request {
  messageType: string
  payload: { case: string; value: Uint8Array | string }
  requestedOutputFormat: number
  testCategory: number
}
const json = 2
const ignoresUnknownFields = 3

for (let size = read(4); size; size = read(4)) {
  const request = fromBinary(asked!, read(size.readUInt32LE())!) as unknown as Request
  const answer = toBinary(answered!, create(answered!, { result: resultOf(request) }))
  const head = Buffer.alloc(4)
  head.writeUInt32LE(answer.length)
  writeAll(Buffer.concat([head, answer]))
}

function resultOf({ messageType, payload, requestedOutputFormat: wanted, testCategory }: Request) {
  const desc = registry.getMessage(messageType)!
  const isJson = payload.case === 'jsonPayload' || (payload.case === 'protobufPayload' && wanted === json)
  // The contract has messages of proto3 alone, and a field that it does not know is refused.
  if (!isJson || desc.file.edition !== Edition.EDITION_PROTO3 || testCategory === ignoresUnknownFields)
    return { case: 'skipped', value: 'the gateway does not do this' }
  try {
    const bytes = Buffer.from(payload.value as string)
    const message = payload.case === 'jsonPayload' ? readJson(desc, bytes) : fromBinary(desc, bytes)
    try {
      return wanted === json
        ? { case: 'jsonPayload', value: toJsonString(desc, message, { registry }) }
        : { case: 'protobufPayload', value: toBinary(desc, message) }
    } catch (error) {
      return { case: 'serializeError', value: String(error) }
    }
  } catch (error) {
    return { case: 'parseError', value: String(error) }
  }
}

function readJson(desc: DescMessage, bytes: Uint8Array) {
  return readRequest({ method: { desc: { input: desc } }, variables: [] } as never, '', bytes)
}

function read(size: number): Buffer | undefined {
  const bytes = Buffer.alloc(size)
  for (let at = 0; at < size;) {
    const more = readSync(0, bytes, at, size - at, null)
    if (more === 0) return undefined
    at += more
  }
  return bytes
}

function writeAll(bytes: Buffer): void {
  for (let at = 0; at < bytes.length;) at += writeSync(1, bytes, at)
}
