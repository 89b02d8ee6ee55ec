import type { Context } from '../../context.ts'
import { pageLink } from '../../directory/email/page-link.ts'
import type { LoginPolicy } from './login-policy.ts'

/** Whether a person of this policy can choose a new password by the mailbox. */
export function renewsPasswords({
  factors,
  hidePasswordReset,
}: Pick<LoginPolicy, 'factors' | 'hidePasswordReset'>): boolean {
  return factors.includes('password') && !hidePasswordReset
}

/** Where a mail sends a person who may not get in any more: to a new password, or, where nobody gets one so, to the sign-in. */
export function recoveryPage(
  { config }: Pick<Context, 'config'>,
  policy: Pick<LoginPolicy, 'factors' | 'hidePasswordReset'>,
  organizationId: string,
): string {
  if (renewsPasswords(policy)) return pageLink(config, '/ui/forgot-password', organizationId)
  return new URL('/ui/account/sign-in', config.PUBLIC_URL).href
}
