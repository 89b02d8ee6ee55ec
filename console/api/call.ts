import { ApiError, readError, unreachable } from './errors.ts'
import { interrupted } from './interruption.ts'
import type { CallOptions, Method, Request, Response, Sent } from './sent.ts'
import { askSession, session } from './session.ts'
import { createStore } from './store.ts'

export const lastWrite = createStore<Sent | undefined>(undefined)

/** Calls an operation over Connect in JSON. Where the person has to sign in again, it waits for that, and asks again. */
export async function call<M extends Method>(
  method: M,
  request: Request<M>,
  options: CallOptions = {},
): Promise<Response<M>> {
  const response = await send(method, request, options)
  if (response.ok) return (await response.json()) as Response<M>
  const error = await readError(response)
  if (!(await mayRepeat(error))) throw error
  return call(method, request, options)
}

/** Calls an operation that writes. Under one key a write happens once, also if the answer was lost. */
export async function write<M extends Method>(
  method: M,
  request: Request<M>,
  options: CallOptions = {},
): Promise<Response<M>> {
  const all = { key: crypto.randomUUID(), ...options }
  const answer = await call(method, request, all)
  lastWrite.set({ method, request, options: all })
  return answer
}

function send(method: Method, request: object, { organization, sequence, key, signal }: CallOptions) {
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    'connect-protocol-version': '1',
    'roster-console-session': session.get()?.session ?? '',
  }
  if (organization) headers['x-service-orgid'] = organization
  if (sequence !== undefined) headers['if-match'] = `"${sequence}"`
  if (key) headers['idempotency-key'] = key
  const init = { method: 'POST', headers, body: JSON.stringify(request), ...(signal && { signal }) }
  return fetch(`/${method}`, init).catch((error: unknown) => {
    if (signal?.aborted) throw error
    throw unreachable()
  })
}

// Nothing was executed in any of these cases.
async function mayRepeat(error: ApiError): Promise<boolean> {
  if (error.reason === 'CONSOLE_SESSION_ENDED') await orRefused(interrupted({ kind: 'ended' }), error)
  else if (error.reason === 'FACTOR_NOT_FRESH') await orRefused(interrupted({ kind: 'stale' }), error)
  else if (error.reason === 'CONSOLE_SESSION_OTHER') await takeOther(error)
  else return false
  return true
}

async function takeOther(error: ApiError) {
  const now = await askSession()
  if (now?.userId === session.get()?.userId) return session.set(now)
  await orRefused(interrupted(now ? { kind: 'other', person: now } : { kind: 'ended' }), error)
}

async function orRefused(wait: Promise<void>, error: ApiError) {
  await wait.catch(() => {
    throw error
  })
}
