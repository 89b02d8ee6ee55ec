import type { GuardedFetch } from '#lib/outbound/guarded-fetch'
import { ask, asObject } from '../checks.ts'
import { UpstreamError } from '../protocol.ts'
import { readSubject } from '../claims.ts'

/** GitHub answers nobody without the last one. */
export function headersOf(token: string): Record<string, string> {
  return { accept: 'application/json', authorization: `Bearer ${token}`, 'user-agent': 'roster' }
}

/** What the provider says of the person whose token it is. */
export async function askForUser(fetch: GuardedFetch, url: string, token: string): Promise<Record<string, unknown>> {
  const asked = await ask(fetch, url, { headers: headersOf(token) })
  if ('problem' in asked) throw new UpstreamError('not-available', asked.problem)
  const { status } = asked.answer
  if (status >= 500) throw new UpstreamError('not-available', `${url} answers with the status ${status}.`)
  if (status !== 200) throw new UpstreamError('not-believed', `${url} refuses the token: ${status}.`)
  const user = asObject(await asked.answer.text())
  if (user) return user
  throw new UpstreamError('not-believed', `${url} answers with something else than an object in JSON.`)
}

/** The id of the person, byte for byte: a text, or a whole number that is read without loss. */
export function subjectOf(user: Record<string, unknown>, idAttribute: string): string {
  const id = Object.hasOwn(user, idAttribute) ? user[idAttribute] : undefined
  if (typeof id === 'string') return readSubject(id)
  // What lies above is rounded, so it would be the id of several people; 0 and less is the id of nobody.
  if (typeof id === 'number' && Number.isSafeInteger(id) && id > 0) return String(id)
  throw new UpstreamError('not-believed', `The answer has no id of a person in ${idAttribute}.`)
}
