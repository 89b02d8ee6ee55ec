import {
  Metadata,
  type Server,
  ServerInterceptingCall,
  type ServerInterceptor,
  type status,
  type StatusObject,
} from '@grpc/grpc-js'
import { codes, RosterError } from '#lib/errors'
import { deadlineExceeded } from '#lib/rpc/call'
import { encodeStatus } from '#lib/status'
import { errorHeaders } from '../answers.ts'
import { tooLarge } from '../body.ts'
import { requestIdOf } from '../calls.ts'
import { byGrpcPath } from '../routes.ts'
import { unknownMethod } from './grpc-web.ts'

type SentStatus = Parameters<ServerInterceptingCall['sendStatus']>[0]

/** The status of an error as grpc-js sends it, the `google.rpc.Status` among its metadata. */
export function toGrpcStatus(error: RosterError, requestId: string): StatusObject {
  const { message, details } = fit(error)
  const metadata = new Metadata()
  metadata.set('x-request-id', requestId)
  metadata.set('grpc-status-details-bin', details)
  for (const [name, value] of Object.entries(errorHeaders(error))) metadata.set(name, value)
  const code: status = error.code
  return { code, details: message, metadata }
}

/**
 * Refuses calls whose request does not arrive within `timeout` milliseconds and those of unknown methods, and gives the errors
 * that grpc-js makes by itself the same shape as all others.
 */
export function guardCalls(timeout: number): ServerInterceptor {
  return ({ path }, call) => {
    const offered = byGrpcPath.has(path)
    if (!offered && path !== anyPath) return new ServerInterceptingCall(call)
    let requestId: string | undefined
    const refuse = (error: RosterError) => call.sendStatus(toGrpcStatus(error, requestIdOf(requestId)))
    // What grpc-js finds wrong below the interceptors leaves through this method of the innermost call only.
    const send = call.sendStatus.bind(call)
    call.sendStatus = (status) => send(complete(status, requestId))
    const timer = setTimeout(() => refuse(requestTimeout()), timeout)
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata(metadata, pass) {
            requestId = metadata.get('x-request-id')[0]?.toString()
            if (offered) pass(metadata)
            else refuse(unknownMethod())
          },
          onReceiveHalfClose(pass) {
            clearTimeout(timer)
            pass()
          },
          onCancel: () => clearTimeout(timer),
        }),
    })
  }
}

const anyPath = '*'

/**
 * Lets unknown paths come to the interceptors too. grpc-js would answer them itself, without details, and offers no way to say
 * so: should a later version keep its methods elsewhere, its plain UNIMPLEMENTED is back (and a test fails).
 */
export function catchUnknownPaths(server: Server): void {
  const same = (bytes: Buffer) => bytes
  server.register(anyPath, () => {}, same, same, 'unary')
  const handlers: unknown = Reflect.get(server, 'handlers')
  if (!(handlers instanceof Map)) return
  const find = handlers.get.bind(handlers)
  handlers.get = (path: unknown) => find(path) ?? find(anyPath)
}

// Clients take 8 KiB of metadata, or refuse the whole answer: of very many violations, the first ones have to do.
function fit(error: RosterError): { message: string; details: Buffer } {
  const { code, reason, retryAfter } = error
  let { message, metadata, violations } = error
  message = message.toWellFormed()
  if (encodeURI(message).length > 2_000) message = `${message.slice(0, 600).toWellFormed()} …`
  for (;;) {
    const details = Buffer.from(encodeStatus({ code, reason, retryAfter, message, metadata, violations }))
    if (details.length <= 4_000) return { message, details }
    if (violations.length > 0) violations = violations.slice(0, violations.length >> 1)
    else metadata = {}
  }
}

function complete(status: SentStatus, requestId: string | undefined): SentStatus {
  if (status.code === 0 || status.metadata?.get('grpc-status-details-bin').length) return status
  return toGrpcStatus(explain(status), requestIdOf(requestId))
}

function explain({ code, details }: SentStatus): RosterError {
  if (code === codes.DEADLINE_EXCEEDED) return deadlineExceeded()
  if (code === codes.RESOURCE_EXHAUSTED) return tooLarge()
  if (details.includes('compressed with'))
    return new RosterError('UNIMPLEMENTED', 'COMPRESSION_UNSUPPORTED', 'The compression of the message is not known.')
  if (details.includes('grpc-timeout'))
    return new RosterError('INVALID_ARGUMENT', 'TIMEOUT_MALFORMED', 'The header grpc-timeout cannot be read.')
  return new RosterError('INVALID_ARGUMENT', 'FRAME_MALFORMED', 'The stream is no gRPC call with one message.')
}

function requestTimeout() {
  return new RosterError('DEADLINE_EXCEEDED', 'REQUEST_TIMEOUT', 'The request did not arrive in time.')
}
