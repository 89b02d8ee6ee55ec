import { randomUUID } from 'node:crypto'
import { request as http } from 'node:http'
import { request as https } from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Call, Fields } from './call.ts'

/** The API, as an administrator of the instance calls it. */
export interface Gateway {
  /** The answer to a read, which is asked once. Undefined where the object is not found. */
  ask(operation: string, request: Fields, organization?: string): Promise<Fields | undefined>
  /** All rows of a search: those in the field `rows` of its answers. */
  all(operation: string, rows: string, request: Fields, organization?: string): Promise<Fields[]>
  /** Performs a write, once however often it is sent. */
  perform(call: Call): Promise<Fields>
  /** Forgets what was read. */
  forget(): void
}

/** An operation that was refused. */
export class Refused extends Error {
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

const mostTries = 6
const patience = 20_000

/**
 * Opens the API at the URL. `token` is read for each call: a service may have written it just now. `isOwn`: the gateway
 * is this machine's own, and its certificate may name another host.
 */
export function openGateway(url: string, token: () => string, isOwn = false): Gateway {
  const read = new Map<string, Promise<Fields | undefined>>()
  const send = async ({ operation, request, organization }: Call, key?: string): Promise<Fields> => {
    for (let attempt = 1; ; attempt++) {
      const headers = {
        authorization: `Bearer ${token()}`,
        'content-type': 'application/json',
        ...(key !== undefined && { 'idempotency-key': key }),
        ...(organization !== undefined && { 'x-service-orgid': organization }),
      }
      const answer = await post(`${url}/roster.${operation}`, headers, JSON.stringify(request), isOwn).catch(
        (error: Error) => error,
      )
      if (!(answer instanceof Error) && answer.status === 200) return JSON.parse(answer.body) as Fields
      const fault = faultOf(answer, url, operation)
      if (!passing.has(fault.code) || attempt === mostTries) throw fault
      const after = answer instanceof Error ? 0 : answer.retryAfter
      await sleep(Math.min(Math.max(after * 1000, 100 * 2 ** attempt), 10_000))
    }
  }
  const ask: Gateway['ask'] = (operation, request, organization) => {
    const place = JSON.stringify([operation, request, organization])
    const known = read.get(place)
    if (known) return known
    const asked = send({ operation, request, organization }).catch((error: unknown) => {
      if (error instanceof Refused && error.code === 'not_found') return undefined
      throw error
    })
    read.set(place, asked)
    return asked
  }
  return {
    ask,
    async all(operation, rows, request, organization) {
      const found: Fields[] = []
      for (let cursor = ''; ;) {
        const page = (await ask(operation, { ...request, limit: 1000, cursor }, organization)) ?? {}
        found.push(...((page[rows] as Fields[] | undefined) ?? []))
        cursor = (page['nextCursor'] as string | undefined) ?? ''
        if (cursor === '') return found
      }
    },
    perform: (call) => send(call, randomUUID()),
    forget: () => read.clear(),
  }
}

// Another try may help.
const passing = new Set(['unavailable', 'resource_exhausted', 'aborted', 'deadline_exceeded'])

interface Answer {
  status: number
  retryAfter: number
  body: string
}

async function post(url: string, headers: Record<string, string>, body: string, isOwn: boolean): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const send = url.startsWith('https:') ? https : http
  const signal = AbortSignal.timeout(patience)
  const options = { method: 'POST', headers, signal, ...(isOwn && { rejectUnauthorized: false }) }
  send(url, options, (answer) => {
    const retryAfter = Number(answer.headers['retry-after']) || 0
    text(answer).then((read) => resolve({ status: answer.statusCode!, retryAfter, body: read }), reject)
  })
    .on('error', reject)
    .end(body)
  return promise
}

function faultOf(answer: Answer | Error, url: string, operation: string): Refused {
  if (answer instanceof Error) {
    const why = answer.message || (answer as NodeJS.ErrnoException).code
    return new Refused('unavailable', `The gateway at ${url} does not answer: ${why}`)
  }
  try {
    const { code, message } = JSON.parse(answer.body) as { code: string; message: string }
    return new Refused(code, message)
  } catch {
    return new Refused('unknown', `${operation} at ${url} was answered by HTTP ${answer.status}, and not by Roster.`)
  }
}
