import { getCACertificates } from 'node:tls'
import { type ChannelCredentials, Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { inject } from 'vitest'
import type { Answer, Call } from './call.ts'
import { decode, decodeStatus, describeOperation, encode, grpcPath } from './messages.ts'

const clients = new Map<string, Client>()

/** `application/grpc` with grpc-js. */
export const callGrpc: Call = (operation, request = {}, { token, organization, headers = {}, url } = {}) => {
  const { input, output } = describeOperation(operation)
  const metadata = new Metadata()
  if (token !== undefined) metadata.set('authorization', `Bearer ${token}`)
  if (organization !== undefined) metadata.set('x-service-orgid', organization)
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  return new Promise((resolve, reject) => {
    const received: Record<string, string> = {}
    const finish = (error: ServiceError | null, ok: unknown) => {
      if (!error) return resolve({ ok, error: undefined, http: 0, headers: received })
      try {
        resolve({ ok: undefined, error: readError(error), http: 0, headers: { ...received, ...plain(error.metadata) } })
      } catch (problem) {
        reject(problem)
      }
    }
    clientOf(url ?? inject('roster').url)
      .makeUnaryRequest(
        grpcPath(operation),
        (json) => Buffer.from(encode(input, json)),
        (bytes) => decode(output, bytes),
        request,
        metadata,
        { deadline: Date.now() + 30_000 },
        finish,
      )
      .on('metadata', (initial) => Object.assign(received, plain(initial)))
  })
}

function clientOf(url: string): Client {
  let client = clients.get(url)
  // Find a restarted gateway at once. Without this, the pause between two tries would grow to minutes.
  const options = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 500 }
  if (!client) clients.set(url, (client = new Client(new URL(url).host, credentialsFor(url), options)))
  return client
}

/** With TLS, or without: as the URL says. */
export function credentialsFor(url: string): ChannelCredentials {
  if (!url.startsWith('https:')) return credentials.createInsecure()
  // grpc-js has a list of its own unless it is given one.
  return credentials.createSsl(Buffer.from(getCACertificates('default').join('\n')))
}

/** The Status of an error. */
export function readError({ code, details, metadata }: ServiceError): Answer['error'] {
  const bytes = metadata.get('grpc-status-details-bin')[0]
  if (!(bytes instanceof Buffer)) throw new Error(`a Status without details: ${code} ${details}`)
  const status = decodeStatus(bytes)
  if (status.code !== code || status.message !== details)
    throw new Error(`grpc-status and grpc-message say ${code} ${details}, the Status ${JSON.stringify(status)}`)
  return status
}

function plain(metadata: Metadata): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata.getMap()).map(([name, value]) => [name, String(value)]))
}
