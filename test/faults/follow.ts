import { setTimeout as sleep } from 'node:timers/promises'
import { factsOf } from '../e2e/clients/call.ts'
import { callJson } from '../e2e/clients/json.ts'
import { type OpenStream, streaming } from '../e2e/clients/streams.ts'
import type { Seen, Wrong } from './compare.ts'
import { retriable, unlessItHangs } from './load.ts'
import type { Running } from './running.ts'

/** Somebody who is to have each event that is stored. */
export interface Reader {
  /** Where its events are: `in the stream`. */
  where: string
  /** What came, in its order; more of it as time goes by. */
  seen(): Seen[]
  /** What it saw that it must not see. */
  wrong: Wrong[]
  stop(): Promise<void> | void
}

const pause = 200

/** Reads from the beginning by cursor, answer by answer; the same again where none came. */
export function followSearch({ url, adminToken: token }: Running): Reader {
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

/** Reads from the beginning as a gRPC stream; begins another one where it ended, with its last cursor. */
export function followStream({ url, adminToken: token }: Running): Reader {
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
      // A connection that broke brings no Status.
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
