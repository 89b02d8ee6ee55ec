import { setTimeout as sleep } from 'node:timers/promises'
import { type DescMessage, fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import { callBytes } from '#lib/rpc/call'
import { codes, deadlineExceeded, RosterError, toRosterError } from '#lib/errors'
import { parse } from '#lib/rpc/validate'
import { admitCall } from '../listen/admission.ts'
import { fewValues } from '../rate-limits/value-limit.ts'
import type { Arrival, ArrivedCall } from './arrived-call.ts'
import { endCall } from './end-call.ts'
import type { Gateway } from './gateway.ts'
import { type IdentifiedCall, identify } from './identify.ts'
import type { Read } from './perform.ts'

export interface StreamAnswer {
  /** Sends the head, before the first message is there: a stream may be quiet for long. */
  begin(): void
  write(message: Uint8Array, signal: AbortSignal): Promise<void>
}

/** Milliseconds within which a service answers a poll. After its client has gone, a service may still wait as long. */
const pollTimeout = 10_000
/** Milliseconds for which an open stream waits for a service that does not answer. */
const patience = 30_000
const [retryAfter, retryAtMost] = [250, 2_000]

/**
 * Performs one stream, from `admit` to the line in the log. It polls the service again and again, each time
 * with the `cursor` of the last answer. An answer with a new cursor is a message, written once the message before it
 * has left. The caller is identified anew before each message. A stream ends only by an error, which this gives. Never
 * throws.
 */
export async function performStream(
  gateway: Gateway,
  arrival: Arrival,
  read: Read,
  answer: StreamAnswer,
): Promise<RosterError> {
  const { method, incoming, clientAddress, header, signal: gone } = arrival
  const { subject } = method
  const arrived: ArrivedCall = { gateway, arrival, started: performance.now(), userId: '', home: '', subject }
  let [messages, error] = [0, streamEnded()]
  const ended = new AbortController()
  const over = AbortSignal.any([gone, gateway.stopping, ended.signal])
  let timer: NodeJS.Timeout | undefined
  let freePlace: (() => void) | undefined
  try {
    const allowance = admitCall(gateway, method, incoming, clientAddress)
    const timeout = arrival.timeout(header) ?? Infinity
    const { STREAM_MAX_AGE_MS: age } = gateway.config
    timer = setTimeout(
      () => {
        if (timeout <= age) error = deadlineExceeded()
        ended.abort()
      },
      Math.min(timeout, age),
    )
    const call = await identify(arrived, { deadline: () => Date.now() + pollTimeout, signal: over })
    freePlace = gateway.streamPlaces(call.forService().caller)
    const request = parse(method.desc.input, await read(allowance, fewValues))
    answer.begin()
    for (let first = true; ; first = false) {
      const asked = performance.now()
      const { bytes, isSameCaller } = await (first ? poll(call, request) : retry(() => poll(call, request), over))
      const cursor = cursorOf(method.desc.output, fromBinary(method.desc.output, bytes))
      const moved = cursor.get() !== cursorOf(method.desc.input, request).get()
      // An answer for another caller, or for other rights, is dropped: the next poll asks for it again.
      if (isSameCaller && moved) {
        await answer.write(bytes, over)
        messages++
        cursorOf(method.desc.input, request).set(cursor.get())
      }
      if (!moved) await sleep(Math.max(0, retryAfter - (performance.now() - asked)), undefined, { signal: over })
    }
  } catch (thrown) {
    if (gone.aborted) error = new RosterError('CANCELLED', 'CANCELLED', 'The client went away.')
    else if (!over.aborted) error = toRosterError(thrown)
    else arrived.hasLasted = freePlace !== undefined
  }
  clearTimeout(timer)
  freePlace?.()
  endCall(arrived, error, undefined, { messages })
  return error
}

async function poll(call: IdentifiedCall, request: Message) {
  const { gateway, method, signal } = call
  const bytes = toBinary(method.desc.input, request)
  const answer = await callBytes(gateway.nats, method.subject, bytes, call.forService(), signal)
  return { bytes: answer.bytes, isSameCaller: await call.identifyAgain() }
}

async function retry<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  const until = Date.now() + patience
  for (let wait = retryAfter; ; wait = Math.min(2 * wait, retryAtMost)) {
    try {
      return await work()
    } catch (error) {
      const passes = error instanceof RosterError && passing.has(error.code)
      if (!passes || signal.aborted || Date.now() > until) throw error
      await sleep(wait, undefined, { signal })
    }
  }
}

const passing: Set<number> = new Set([codes.UNAVAILABLE, codes.DEADLINE_EXCEEDED])

function cursorOf(desc: DescMessage, message: Message) {
  const field = desc.field['cursor']
  if (!field) throw new Error(`${desc.typeName} has no cursor, so it cannot be streamed`)
  const reflected = reflect(desc, message)
  return { get: () => reflected.get(field) as string, set: (value: string) => reflected.set(field, value) }
}

function streamEnded() {
  const message = 'The stream ended. Open a new one with its last cursor.'
  return new RosterError('UNAVAILABLE', 'STREAM_ENDED', message, { retryAfter: 1 })
}
