import type { Context } from '../../context.ts'
import { pageLink } from './page-link.ts'
import { makeSecret, readSecret } from '../secrets/secret.ts'

/** The address of the page that takes a change of address back. */
export function takeBackLink(
  { config, keys }: Pick<Context, 'config' | 'keys'>,
  { id: userId, organizationId }: { id: string; organizationId: string },
  noticeId: string,
) {
  const link = new URL(pageLink(config, '/ui/take-back', organizationId))
  // Behind the # neither logs nor the next site see it.
  link.hash = new URLSearchParams({ code: makeSecret(keys, 'take-back', [userId, noticeId]) }).toString()
  return link.href
}

/** Whose change a link takes back, and by which notice. `entered`: the link, or what stands behind its #. */
export function readTakeBack(keys: Context['keys'], entered: string): { userId: string; noticeId: string } | undefined {
  const text = entered.trim()
  const secret = new URLSearchParams(text.slice(text.indexOf('#') + 1)).get('code') ?? text
  const [userId, noticeId] = readSecret(keys, 'take-back', secret) ?? []
  return userId === undefined || noticeId === undefined ? undefined : { userId, noticeId }
}
