import type { GuardedFetch } from '#lib/outbound/guarded-fetch'
import { ask } from '../checks.ts'
import { headersOf } from './user.ts'

interface Address {
  email?: unknown
  primary?: unknown
  verified?: unknown
}

/**
 * The primary address of the person, and whether the provider verified it. The one in the answer about the person is what the
 * person chose to show, so it never counts. Who is not told gets a person without an address.
 */
export async function askForPrimaryEmail(fetch: GuardedFetch, url: string, token: string) {
  const asked = await ask(fetch, url, { headers: headersOf(token) })
  const addresses = 'answer' in asked && asked.answer.status === 200 ? readList(await asked.answer.text()) : []
  const { email, verified } = addresses.find((each) => each?.primary === true) ?? {}
  return { email, email_verified: verified }
}

function readList(text: string): (Address | null)[] {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? (list as (Address | null)[]) : []
  } catch {
    return []
  }
}
