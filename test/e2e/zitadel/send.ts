import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { inject } from 'vitest'
import { frame, readError, readFrames, readTrailers } from '../clients/grpc-web-text.ts'
import { readError as readConnectError } from '../clients/connect-json.ts'
import { readError as readGrpcError } from '../clients/grpc.ts'
import type { Status } from '../clients/call.ts'

/** Sends the bytes of a request to a path, and returns the bytes of the answer or the error. */
export type Send = (path: string, bytes: Uint8Array, headers: Record<string, string>) => Promise<Sent>

export interface Sent {
  bytes: Uint8Array | undefined
  error: Status | undefined
}

const overGrpc: Send = async (path, bytes, headers) => {
  const client = new Client(new URL(inject('roster').url).host, credentials.createInsecure())
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  const same = (buffer: Buffer) => buffer
  const sent = await new Promise<Sent>((resolve) => {
    const finish = (error: ServiceError | null, answer?: Buffer) =>
      resolve({ bytes: answer, error: error ? readGrpcError(error) : undefined })
    client.makeUnaryRequest(path, same, same, Buffer.from(bytes), metadata, finish)
  })
  client.close()
  return sent
}

const overGrpcWeb: Send = async (path, bytes, headers) => {
  const response = await fetch(inject('roster').url + path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/grpc-web+proto' },
    body: new Uint8Array(frame(bytes)),
  })
  const frames = readFrames(Buffer.from(await response.arrayBuffer()))
  const trailers = readTrailers(frames)
  if (trailers['grpc-status'] !== '0') return { bytes: undefined, error: readError(trailers) }
  return { bytes: frames.find(({ flag }) => flag === 0)!.payload, error: undefined }
}

const overConnect: Send = async (path, bytes, headers) => {
  const response = await fetch(inject('roster').url + path, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/proto', 'connect-protocol-version': '1' },
    body: new Uint8Array(bytes),
  })
  if (!response.ok) return { bytes: undefined, error: readConnectError((await response.json()) as never) }
  return { bytes: new Uint8Array(await response.arrayBuffer()), error: undefined }
}

export const ways: [string, Send][] = [
  ['gRPC', overGrpc],
  ['gRPC-web', overGrpcWeb],
  ['Connect', overConnect],
]
