import type { Use } from '#lib/eventstore/command'
import type { Context } from '../../context.ts'
import { mailUses } from '../email/mail-uses.ts'
import type { Human } from '../events/human.ts'

/** Of the mail that tells a person that the password was changed. Its content needs the login policy. */
export const kind = 'password-changed'

/** After that it comes too late to help. Milliseconds. */
export const lifetime = 3 * 86_400_000

/** Where there were too many, the error is one of `isNoticeDropped`. `isOwn`: no other user set the password. */
export function usesOf(
  context: Pick<Context, 'config' | 'keys'>,
  { email }: Human,
  organizationId: string,
  isOwn: boolean,
): Use[] {
  return mailUses(context, email, organizationId, isOwn ? 'own-password' : 'password')
}
