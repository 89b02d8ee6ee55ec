import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

// Each operation has another answer.
// oxlint-disable-next-line typescript/no-explicit-any
export type Answer = any

/** Calls Roster in JSON. */
export interface Target {
  /**
   * The answer. Throws Refusal for an error of the request, and Error where Roster does not answer for minutes.
   * `organization`: the acting one.
   */
  ask(verb: 'GET' | 'POST' | 'PUT', path: string, body?: object, organization?: string): Promise<Answer>
}

/** An error of Roster. */
export class Refusal extends Error {
  readonly code: number
  readonly reason: string
  readonly faults: { field: string; description: string }[]

  constructor({ code, message, details = [] }: Status) {
    const faults = details.flatMap(({ fieldViolations = [] }) => fieldViolations)
    super(faults.length > 0 ? faults.map(({ field, description }) => `${field} ${description}`).join(', ') : message)
    this.code = code
    this.faults = faults
    this.reason = details.find(({ reason }) => reason !== undefined)?.reason ?? 'UNKNOWN'
  }
}

export interface Status {
  code: number
  message: string
  details?: { reason?: string; fieldViolations?: { field: string; description: string }[] }[]
}

/** What an error says to people. */
export function whyOf(refusal: Refusal): string {
  return `${refusal.reason}: ${refusal.message}`
}

/** Why Roster refuses the request; undefined where it does not. */
export async function refusalOf(answer: Promise<unknown>): Promise<string | undefined> {
  try {
    await answer
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return whyOf(error)
    throw error
  }
}

const patience = 600_000
const timeout = 60_000
const unauthenticated = 16
/** gRPC codes after which the same request may succeed. */
const passing = new Set([4, 8, 10, 14])
/** Reasons with such a code that stay. */
const lasting = new Set(['LIMIT_REACHED', 'REQUEST_TOO_LARGE', 'ANSWER_TOO_LARGE'])

export function openTarget({ url, token, say }: { url: string; token: string; say: (line: string) => void }): Target {
  // The key makes a repeated request of this run harmless. Another run has other keys, because it must not get old
  // refusals again: whether an object is there, it sees by its id.
  const run = randomUUID()
  return {
    async ask(verb, path, body, organization) {
      const text = body && JSON.stringify(body)
      const key = createHash('sha256')
        .update(JSON.stringify([run, verb, path, organization, text]))
        .digest('hex')
      const headers = {
        authorization: `Bearer ${token}`,
        'idempotency-key': key,
        ...(text !== undefined && { 'content-type': 'application/json' }),
        ...(organization !== undefined && { 'x-service-orgid': organization }),
      }
      const begun = Date.now()
      for (let count = 0; ; count++) {
        const { problem, wait } = await once()
        if (problem instanceof Answered) return problem.answer
        if (wait === undefined || Date.now() - begun > patience) throw problem
        const pause = Math.max(wait, Math.min(30_000, 100 * 2 ** count))
        if (pause >= 1000) say(`Waiting ${Math.ceil(pause / 1000)} s: ${problem.message}`)
        await sleep(pause)
      }

      async function once(): Promise<{ problem: Answered | Error; wait?: number }> {
        let response: Response
        let answer: Answer
        try {
          const sent = { method: verb, headers, redirect: 'error' as const, signal: AbortSignal.timeout(timeout) }
          response = await fetch(url + path, { ...sent, ...(text !== undefined && { body: text }) })
          answer = await response.json()
        } catch (cause) {
          return { problem: new Error(`Roster does not answer: ${messageOf(cause)}`, { cause }), wait: 0 }
        }
        if (response.ok) return { problem: new Answered(answer) }
        const problem = new Refusal(answer as Status)
        if (problem.code === unauthenticated) throw new Error(`Roster refuses the token: ${problem.message}`)
        if (!passing.has(problem.code) || lasting.has(problem.reason)) return { problem }
        return { problem, wait: 1000 * Number(response.headers.get('retry-after') ?? 0) || 0 }
      }
    },
  }
}

class Answered {
  readonly answer: Answer
  constructor(answer: Answer) {
    this.answer = answer
  }
}

function messageOf(error: unknown): string {
  const { message, cause } = error as Error
  return cause instanceof Error ? `${message} (${cause.message})` : message
}
