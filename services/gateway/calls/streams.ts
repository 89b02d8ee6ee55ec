import { setTimeout as sleep } from 'node:timers/promises'
import { type DescMessage, fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import { codes, RosterError, toRosterError } from '#lib/errors'
import { callBytes, deadlineExceeded } from '#lib/rpc/call'
import type { Caller } from '#lib/rpc/caller'
import { parse } from '#lib/rpc/validate'
import { callOf, credentialsOf } from './arrival-facts.ts'
import { isSameIdentity } from './ask.ts'
import { type Arrival, type Gateway, logCall } from './calls.ts'

/** Milliseconds that a service may wait before it answers; so long it may wait on for a client that has gone. */
const pollTimeout = 10_000
/** Milliseconds for which a stream that is under way bears with services that do not answer. */
const patience = 30_000
const [retryAfter, retryAtMost] = [250, 2_000]

/**
 * A stream from the first check to the line in the log. Its service is asked again and again, each time with the `cursor` of the
 * last answer; an answer with another one is a message, written once the one before has left. Who calls is looked at anew before
 * each message. Gives the error that ended the stream, since nothing else does; never throws.
 */
export async function performStream(
  gateway: Gateway,
  arrival: Arrival,
  read: () => Uint8Array | Promise<Uint8Array>,
  write: (message: Uint8Array, signal: AbortSignal) => Promise<void>,
): Promise<RosterError> {
  const started = performance.now()
  const { method, signal: gone } = arrival
  let [user, messages, error] = ['', 0, streamEnded()]
  const ended = new AbortController()
  const over = AbortSignal.any([gone, gateway.stopping, ended.signal])
  let timer: NodeJS.Timeout | undefined
  let leave = () => {}
  try {
    arrival.admit()
    const timeout = arrival.timeout() ?? Infinity
    const { STREAM_MAX_AGE_MS: age } = gateway.config
    timer = setTimeout(
      () => {
        if (timeout <= age) error = deadlineExceeded()
        ended.abort()
      },
      Math.min(timeout, age),
    )
    const facts = callOf(arrival)
    const identify = (admit?: (caller: Caller) => void) => {
      const credentials = credentialsOf(arrival, Date.now() + pollTimeout, over)
      return gateway.authenticator.authenticate(method.access, credentials, admit)
    }
    let identity = await identify((caller) => {
      user = caller.userId
      gateway.rates.admit(caller, method, facts.clientAddress)
    })
    leave = gateway.streamPlaces(identity.caller)
    const request = parse(method.desc.input, await read())
    const poll = async () => {
      const call = { ...facts, ...identity, deadline: Date.now() + pollTimeout }
      const { bytes } = await callBytes(gateway.nats, method.subject, toBinary(method.desc.input, request), call, over)
      return { bytes, now: await identify() }
    }
    for (let first = true; ; first = false) {
      const asked = performance.now()
      const { bytes, now } = await (first ? poll() : patiently(poll, over))
      const cursor = cursorOf(method.desc.output, fromBinary(method.desc.output, bytes))
      const moved = cursor.get() !== cursorOf(method.desc.input, request).get()
      // What was answered to somebody else, or with other rights, is asked for again.
      if (isSameIdentity(identity, now) && moved) {
        await write(bytes, over)
        messages++
        cursorOf(method.desc.input, request).set(cursor.get())
      }
      identity = now
      if (!moved) await sleep(Math.max(0, retryAfter - (performance.now() - asked)), undefined, { signal: over })
    }
  } catch (thrown) {
    if (gone.aborted) error = new RosterError('CANCELLED', 'CANCELLED', 'The client went away.')
    else if (!over.aborted) error = toRosterError(thrown)
  }
  clearTimeout(timer)
  leave()
  logCall(gateway.log, arrival, user, started, error, { messages })
  return error
}

async function patiently<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
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
  const message = 'The stream ended; go on from its last cursor.'
  return new RosterError('UNAVAILABLE', 'STREAM_ENDED', message, { retryAfter: 1 })
}
