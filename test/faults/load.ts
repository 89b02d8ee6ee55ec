import { isDeepStrictEqual } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, type Call, factsOf } from '../e2e/clients/call.ts'
import { callConnect } from '../e2e/clients/connect.ts'
import { callGrpc } from '../e2e/clients/grpc.ts'
import { callGrpcWebText } from '../e2e/clients/grpc-web-text.ts'
import { callGrpcWeb } from '../e2e/clients/grpc-web.ts'
import { callJson } from '../e2e/clients/json.ts'
import { type Random, seeded } from './random.ts'
import { type Belongings, nextWrite, type Write } from './writes.ts'

/** A write as its client remembers it. */
export interface Remembered extends Write {
  /** Identifies the write. It is the Idempotency-Key and the start of the request ids. */
  id: string
  attempts: number
  /** The answer; undefined where none came, or where it was refused. */
  answer: any
  /** The time of the first attempt, and that of the answer, in milliseconds. */
  began: number
  ended: number
}

/** The results of a load. */
export interface Load {
  acknowledged: number
  /** Attempts without an answer. */
  unanswered: number
  /** Attempts after the first one of a write. */
  retries: number
  /** gRPC code and reason of each error answer, counted. */
  errors: Map<string, number>
  writes: Remembered[]
  /** Faults that a client saw. */
  wrong: string[]
  /** The slowest attempt, in milliseconds. */
  slowest: number
  /** Ends the load. Resolves when every write is answered. */
  stop(): Promise<void>
}

export interface LoadOptions {
  /** The gateways. Each attempt takes one of them. */
  urls: string[]
  token: string
  seed: number
  round: number
  writers: Belongings[]
}

const calls: Call[] = [callJson, callGrpc, callGrpcWeb, callGrpcWebText, callConnect]
const nameOf = (call: Call) => ['JSON', 'gRPC', 'gRPC-web', 'gRPC-web-text', 'Connect'][calls.indexOf(call)]
// Longer than every deadline and pause. A call that hangs for ever must show up, and must not hold up the suite.
const hangs = 15_000
const giveUpAfter = 120_000
/** gRPC codes of errors that allow a retry. */
export const retriable = [4, 10, 14]

/**
 * Writers in a closed loop, each with its own objects. Each repeats a write under its key until the write is answered.
 */
export function startLoad({ urls, token, seed, round, writers }: LoadOptions): Load {
  const stopped = new AbortController()
  const load: Load = {
    acknowledged: 0,
    unanswered: 0,
    retries: 0,
    errors: new Map(),
    writes: [],
    wrong: [],
    slowest: 0,
    async stop() {
      stopped.abort()
      await Promise.all(loops)
    },
  }
  const loops = writers.map(async (own, writer) => {
    const random = seeded(seed, `load ${round} ${writer}`)
    for (let n = 1; !stopped.signal.aborted; n++) {
      const id = `w${seed}-${round}-${writer}-${n}`
      const fresh = { id, attempts: 0, answer: undefined, began: Date.now(), ended: Infinity }
      await write({ ...nextWrite(id, own, random), ...fresh }, random)
      // The test shows the effect of the faults, not the speed of the machine.
      await sleep(random.between(5, 35))
    }

    async function write(next: Remembered, random: Random) {
      load.writes.push(next)
      let call = random.pick(calls)
      for (
        const end = Date.now() + giveUpAfter;
        !(await attempt(next, call, random.pick(urls)));
        await sleep(random.between(50, 250))
      ) {
        if (Date.now() > end) return void load.wrong.push(`${next.id} (${next.operation}) was never answered`)
        load.retries++
        if (random.next() < 0.4) call = random.pick(calls)
      }
      if (next.answer === undefined) return
      load.acknowledged++
      next.ended = Date.now()
      next.acknowledged?.(next.answer)
    }
  })

  // True when the write needs no further attempt.
  async function attempt(write: Remembered, call: Call, url: string): Promise<boolean> {
    const requestId = `${write.id}.${++write.attempts}`
    const began = performance.now()
    const answer = await send(call, write, requestId, url).catch(() => undefined)
    load.slowest = Math.max(load.slowest, performance.now() - began)
    if (answer === undefined) {
      load.unanswered++
      return false
    }
    if (!answer.error) {
      write.answer = answer.ok
      return true
    }
    const { code, reason } = factsOf(answer)
    const error = `${code} ${reason}`
    load.errors.set(error, (load.errors.get(error) ?? 0) + 1)
    if (retriable.includes(code)) return false
    load.wrong.push(`${requestId} (${write.operation}, ${nameOf(call)}) was refused: ${error}`)
    return true
  }

  function send(call: Call, { operation, request, id }: Remembered, requestId: string, url: string): Promise<Answer> {
    const headers = { 'idempotency-key': id, 'x-request-id': requestId }
    return unlessItHangs(call(operation, request, { url, token, headers }))
  }

  return load
}

/** Waits until so many writes are acknowledged. */
export async function acknowledged(load: Load, count: number) {
  for (const end = Date.now() + 60_000; load.acknowledged < count; await sleep(20))
    if (Date.now() > end)
      throw new Error(`only ${load.acknowledged} of ${count} writes: ${JSON.stringify([...load.errors])}`)
}

/** The answer of a call. Rejects where none comes for a long time. */
export function unlessItHangs(answer: Promise<Answer>): Promise<Answer> {
  answer.catch(() => {})
  return Promise.race([answer, sleep(hangs).then(() => Promise.reject(new Error('hangs')))])
}

// A client may notice late that the gateway is back. An attempt without an answer may still be under way.
async function untilAnswered(send: () => Promise<Answer>): Promise<Answer> {
  const until = Date.now() + hangs
  for (;;) {
    try {
      const answer = await unlessItHangs(send())
      if (!retriable.includes(factsOf(answer).code) || Date.now() > until) return answer
    } catch (error) {
      if (Date.now() > until) throw error
    }
    await sleep(200)
  }
}

/** Sends an acknowledged write again, in every encoding. Returns the faults of the answers. */
export async function replay({ url, token }: { url: string; token: string }, write: Remembered): Promise<string[]> {
  const wrong: string[] = []
  for (const call of calls) {
    const headers = { 'idempotency-key': write.id, 'x-request-id': `${write.id}.again` }
    const answer = await untilAnswered(() => call(write.operation, write.request, { url, token, headers }))
    if (answer.error) wrong.push(`${write.id} (${write.operation}) again: ${JSON.stringify(factsOf(answer))}`)
    else if (!isDeepStrictEqual(answer.ok, write.answer)) wrong.push(`${write.id} (${write.operation}): another answer`)
    else if (answer.headers['idempotent-replayed'] !== 'true') wrong.push(`${write.id}: not marked as replayed`)
  }
  return wrong
}
