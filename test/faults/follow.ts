import { setTimeout as sleep } from 'node:timers/promises'
import { factsOf } from '../e2e/clients/call.ts'
import { callJson } from '../e2e/clients/json.ts'
import { type OpenStream, streaming } from '../e2e/clients/streams.ts'
import type { Seen, Wrong } from './compare.ts'
import { retriable, unlessItHangs } from './load.ts'
import type { Called } from './running.ts'

/** A reader that must get each stored event. */
export interface Reader {
  /** The source of its events: `in the stream`. */
  where: string
  /** The events that came, in their order. The list grows. */
  seen(): Seen[]
  /** Faults that the reader itself noticed. */
  wrong: Wrong[]
  stop(): Promise<void> | void
}

const pause = 200

/** Reads from the beginning with cursors, answer by answer. Repeats a request that got no answer. */
export function followSearch({ url, adminToken: token }: Called): Reader {
  const stopped = new AbortController()
  const seen: Seen[] = []
  const wrong: Wrong[] = []

  async function run() {
    for (let cursor = ''; !stopped.signal.aborted;) {
      const request = { cursor, waitSeconds: 3, limit: 50 }
      const answer = await unlessItHangs(callJson('SearchEvents', request, { url, token })).catch(() => undefined)
      if (answer?.ok) {
        seen.push(...seenIn(answer.ok))
        cursor = answer.ok.cursor
        continue
      }
      const { code, reason } = answer ? factsOf(answer) : { code: retriable[0]!, reason: '' }
      if (!retriable.includes(code)) wrong.push({ at: Date.now(), sentence: `a search was refused: ${code} ${reason}` })
      await sleep(pause)
    }
  }

  void run()
  return { where: 'in what SearchEvents answered', seen: () => seen, wrong, stop: () => stopped.abort() }
}

/** Reads from the beginning as a gRPC stream. When a stream ends, begins another with the last cursor. */
export function followStream({ url, adminToken: token }: Called): Reader {
  const { open } = streaming.find(({ encoding }) => encoding === 'grpc')!
  const stopped = new AbortController()
  const seen: Seen[] = []
  const wrong: Wrong[] = []
  let cursor = ''
  let stream: OpenStream

  function take(): Seen[] {
    for (const message of stream.messages.splice(0)) {
      seen.push(...seenIn(message))
      cursor = message.cursor
    }
    return seen
  }

  async function run() {
    while (!stopped.signal.aborted) {
      stream = open('WatchEvents', { cursor }, { url, token })
      const end = await stream.ended.catch((error: Error) => error)
      take()
      if (stopped.signal.aborted) return
      // A broken connection brings no Status.
      const isLost = end instanceof Error && end.message.startsWith('a Status without details: 14 ')
      if (!isLost && (end instanceof Error || !retriable.includes(end!.code)))
        wrong.push({ at: Date.now(), sentence: `a stream ended with ${end?.message}` })
      await sleep(pause)
    }
  }

  void run()
  return {
    where: 'in what WatchEvents brought',
    seen: take,
    wrong,
    stop() {
      stopped.abort()
      stream.cancel()
    },
  }
}

function seenIn({ events = [] }: any): Seen[] {
  return events.map(({ id, aggregateType, aggregateId, sequence, requestId = '' }: any) => ({
    id,
    aggregate: `${aggregateType} ${aggregateId}`,
    sequence: Number(sequence),
    requestId,
  }))
}
