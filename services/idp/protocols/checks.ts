import { type IDPCheck, IDPCheckKind as Kind, IDPCheckResult as Result } from '#gen/roster/idp/v1/idp_check'
import type { FetchInit, GuardedFetch } from '#lib/outbound/guarded-fetch'
import { wordsOfFailure } from '#lib/outbound/words-of-failure'

export const passed = (kind: Kind, url = ''): IDPCheck => check(kind, Result.IDP_CHECK_RESULT_PASSED, url, '')
export const doubtful = (kind: Kind, url: string, problem: string): IDPCheck =>
  check(kind, Result.IDP_CHECK_RESULT_DOUBTFUL, url, problem)
export const faulty = (kind: Kind, url: string, problem: string): IDPCheck =>
  check(kind, Result.IDP_CHECK_RESULT_FAULTY, url, problem)
export const notChecked = (kind: Kind, url: string, problem: string): IDPCheck =>
  check(kind, Result.IDP_CHECK_RESULT_NOT_CHECKED, url, problem)

/** People sign in by this provider. */
export const spoken = passed(Kind.IDP_CHECK_KIND_SIGN_IN)

function check(kind: Kind, result: Result, url: string, problem: string): IDPCheck {
  return { kind, result, url: plain(url), problem }
}

/** A text of a provider as an answer may show it. */
export function plain(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?').slice(0, 200)
}

/** What came from an address of a provider, or why nothing did. */
export type Asked = { answer: Response } | { problem: string }

/** Asks an address of a provider. A redirect is a problem: Roster follows none. */
export async function ask(fetch: GuardedFetch, url: string, init?: FetchInit): Promise<Asked> {
  let answer: Response
  try {
    answer = await fetch(url, init)
  } catch (error) {
    return { problem: `It does not answer: ${wordsOfFailure(error)}.` }
  }
  const location = answer.headers.get('location')
  if (answer.status < 300 || answer.status > 399 || location === null) return { answer }
  return { problem: `It redirects to ${plain(location)}, and Roster follows no redirect.` }
}

/** The object that an address of a provider answers with, or why there is none. */
export async function askForObject(fetch: GuardedFetch, url: string) {
  const asked = await ask(fetch, url, { headers: { accept: 'application/json' } })
  if ('problem' in asked) return asked
  const { answer } = asked
  if (answer.status !== 200) return { problem: `It answers with the status ${answer.status}.`, answer }
  const object = asObject(await answer.text())
  return object ? { object, answer } : { problem: 'It answers with something else than an object in JSON.', answer }
}

/** The object in a text in JSON. */
export function asObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined
  } catch {
    return undefined
  }
}

/** A list of texts of a provider; undefined where there is none. */
export function texts(value: unknown): string[] | undefined {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : undefined
}
