import type { Context } from '../../context.ts'
import { makeSecret, readSecret } from '../secrets/secret.ts'

/** The address of the page that takes a change of address back. */
export function takeBackLink({ config, keys }: Pick<Context, 'config' | 'keys'>, userId: string, noticeId: string) {
  const link = new URL('/ui/take-back', config.PUBLIC_URL)
  link.searchParams.set('secret', makeSecret(keys, 'take-back', [userId, noticeId]))
  return link.href
}

/** Whose change a link takes back, and by which notice. */
export function readTakeBack(keys: Context['keys'], secret: string): { userId: string; noticeId: string } | undefined {
  const [userId, noticeId] = readSecret(keys, 'take-back', secret) ?? []
  return userId === undefined || noticeId === undefined ? undefined : { userId, noticeId }
}
