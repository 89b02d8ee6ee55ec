import { type Msg, type MsgHdrs, NatsError } from 'nats'
import { type BinaryReader, type BinaryWriter } from '@bufbuild/protobuf/wire'
import { deadlineExceeded, RosterError } from '../errors.ts'
import type { Nats } from '../nats/connect-nats.ts'
import { decodeStatus } from '../status.ts'
import { anonymous } from './caller.ts'
import { type Call, writeHeaders } from './headers.ts'
import { onAbsence } from './presence.ts'
import type { SignCaller } from './signatures/sign-callers.ts'
import { telemetry } from '../telemetry/telemetry.ts'
import { spanOfCall } from './spans.ts'
import { endOfTick } from './tick.ts'

/** A connection for calls to services. */
export interface AskingNats extends Nats {
  /** Names the caller, signed. Only the gateway has this; without it, the call has no caller. */
  sign?: SignCaller
}

/** The answer of a service. */
export interface Answered {
  bytes: Uint8Array
  /** The sequence of the object that was read or changed; undefined where there is no object. */
  sequence: number | undefined
  /** The service gave this answer before, to the same request with the same Idempotency-Key. */
  replayed: boolean
}

/**
 * Sends request bytes to the service that answers `subject` and returns its answer.
 * Throws the service's RosterError; UNAVAILABLE where no service answers or the connection is lost; DEADLINE_EXCEEDED.
 * Throws CANCELLED once `signal` is aborted: the wait ends, but the service may still do the work.
 */
export function callBytes(
  nats: AskingNats,
  subject: string,
  bytes: Uint8Array,
  call: Call,
  signal?: AbortSignal,
): Promise<Answered> {
  const { tracing } = telemetry
  if (!tracing?.isActive()) return sendBytes(nats, subject, bytes, call, signal)
  return tracing.inSpan(spanOfCall('client', subject), () => {
    const traceparent = tracing.place() ?? ''
    return sendBytes(nats, subject, bytes, { ...call, traceparent }, signal)
  })
}

async function sendBytes(
  nats: AskingNats,
  subject: string,
  bytes: Uint8Array,
  call: Call,
  signal: AbortSignal | undefined,
): Promise<Answered> {
  if (!nats.connected()) throw unavailable('BROKER_UNAVAILABLE', 'The message broker cannot be reached.')
  const timeout = call.deadline - Date.now()
  if (timeout <= 0) throw deadlineExceeded()
  const headers = writeHeaders(call, subject.split('.')[1]!, nats.sign)
  await endOfTick()
  if (signal?.aborted) throw cancelled()
  const answer = await askUntil(nats, subject, bytes, { timeout, headers }, signal)
  // The client's own `get` is slow: it lists all names each time.
  const marks = new Map(answer.headers)
  const replayed = marks.get('roster-replayed')?.[0] === 'true'
  if (marks.has('roster-error')) throw Object.assign(decodeStatus(answer.data), replayed && { replayed })
  const sequence = marks.get('roster-sequence')?.[0] ?? ''
  return {
    bytes: answer.data,
    sequence: /^\d{1,15}$/.test(sequence) ? Number(sequence) : undefined,
    replayed,
  }
}

/** A method of a generated service definition. */
export interface MethodDefinition<Request, Response> {
  name: string
  requestType: Codec<Request>
  responseType: Codec<Response>
}

interface Codec<Message> {
  encode(message: Message): BinaryWriter
  decode(input: BinaryReader | Uint8Array): Message
}

/** A generated service definition. */
export interface ServiceDefinition {
  fullName: string
  // Each method has its own request and response; no type holds for all of them.
  // oxlint-disable-next-line typescript/no-explicit-any
  methods: Record<string, MethodDefinition<any, any>>
}

/**
 * The fields that a service sets when it calls another. It has no caller field: a service calls as itself, and cannot
 * vouch for a caller.
 */
export type ServiceCall = Pick<Call, 'requestId' | 'deadline'> & Partial<Pick<Call, 'traceparent' | 'cause'>>

/** The methods of a definition that a service may call, and no others. Each is a function of request and call. */
export type Client<S extends ServiceDefinition, Name extends keyof S['methods']> = {
  [M in Name]: S['methods'][M] extends MethodDefinition<infer Request, infer Response>
    ? (request: Request, call: ServiceCall) => Promise<Response>
    : never
}

/** Calls these internal methods of another service, each by `ask`. Errors as of `callBytes`. */
export function createClient<S extends ServiceDefinition, Name extends keyof S['methods'] & string>(
  nats: Nats,
  definition: S,
  names: readonly Name[],
  ask: typeof callBytes = callBytes,
): Client<S, Name> {
  const entries = names.map((name) => {
    const method = definition.methods[name]!
    return [
      name,
      async (request: unknown, call: ServiceCall) => {
        const { traceparent = '', requestId, deadline, cause } = call
        const own = {
          caller: anonymous,
          traceparent,
          requestId,
          deadline,
          cause,
          organizationId: '',
          clientAddress: '',
        }
        const bytes = method.requestType.encode(request).finish()
        const answer = await ask(nats, `${definition.fullName}.${method.name}`, bytes, own)
        return method.responseType.decode(answer.bytes)
      },
    ]
  })
  return Object.fromEntries(entries) as Client<S, Name>
}

async function askUntil(
  nats: Nats,
  method: string,
  bytes: Uint8Array,
  options: { timeout: number; headers: MsgHdrs },
  signal: AbortSignal | undefined,
): Promise<Msg> {
  let isAnswered = false
  const unwatch = onAbsence(nats, method, () => asked.fail(serviceUnavailable()))
  const asked = nats.ask(method, bytes, options)
  const cancel = () => asked.fail(cancelled())
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    const message = await asked.answer
    isAnswered = true
    return message
  } catch (error) {
    throw fromNats(error)
  } finally {
    unwatch(isAnswered)
    signal?.removeEventListener('abort', cancel)
  }
}

function fromNats(error: unknown): unknown {
  if (!(error instanceof NatsError)) return error
  if (error.code === '503') return serviceUnavailable(error)
  if (error.code === 'TIMEOUT') return deadlineExceeded(error)
  if (error.code === 'DISCONNECT')
    return unavailable('BROKER_UNAVAILABLE', 'The connection to the message broker was lost.', error)
  if (error.code === 'MAX_PAYLOAD_EXCEEDED')
    return new RosterError('RESOURCE_EXHAUSTED', 'REQUEST_TOO_LARGE', 'The request is too large.', { cause: error })
  return unavailable('BROKER_UNAVAILABLE', 'The message broker cannot be reached.', error)
}

function cancelled() {
  return new RosterError('CANCELLED', 'CANCELLED', 'The client went away.')
}

function serviceUnavailable(cause?: unknown) {
  return unavailable('SERVICE_UNAVAILABLE', 'The service is not available.', cause)
}

function unavailable(reason: string, message: string, cause?: unknown) {
  return new RosterError('UNAVAILABLE', reason, message, { retryAfter: 1, cause })
}
