import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { canRecover } from '../../directory/email/can-recover.ts'
import type { Human } from '../../directory/events/human.ts'
import { livingPasskeys } from '../../directory/events/passkeys.ts'
import type { User } from '../../directory/events/user.ts'
import { findUserById } from '../../directory/login-names/login-user.ts'
import { loadPersonPolicy } from '../login-policy/load-person-policy.ts'
import { type PersonPolicy, servesFor } from '../login-policy/login-policy.ts'

type WaysIn = Pick<PersonPolicy, 'byHandAlone' | 'factors' | 'providers' | 'allowPasskeys' | 'passkeyRpId'>

/** What else the person has. */
interface Beside {
  hasPassword: boolean
  /** The address may get a code: to sign in with, where the policy lets it, or for a forgotten password. */
  hasMailbox: boolean
}

/** The check of `keepWayIn`, with what is known before the decision. */
export async function keepingWayIn(context: Context, userId: string, call: Call) {
  const user = await context.store.load<User>('user', userId)
  const at = { userId, organizationId: user?.organizationId ?? '' }
  const policy = await loadPersonPolicy(context, at, call)
  const hasPassword = ((await findUserById(context, userId))?.hash ?? null) !== null
  return (before: Human, after: Human, now: Date) =>
    keepWayIn(policy, { hasPassword, hasMailbox: canRecover(before, context.config, now) }, before, after)
}

/**
 * Throws where nothing is left with which the person could begin a sign-in, and something was. A password, a passkey or a
 * provider that the policy does not let count is none, nor is a passkey of another domain. FAILED_PRECONDITION LAST_FACTOR: `recovery`
 * says whether a mail for a forgotten password would bring the person back. Pure.
 */
export function keepWayIn(
  policy: WaysIn & Pick<PersonPolicy, 'hidePasswordReset'>,
  beside: Beside,
  before: Human,
  after: Human,
): void {
  if (!hasWayIn(policy, beside, before) || hasWayIn(policy, beside, after)) return
  const isRecoverable = beside.hasMailbox && !policy.hidePasswordReset
  const rest = isRecoverable
    ? 'Only a mail for a forgotten password would bring them back.'
    : 'No mail for a forgotten password would bring them back.'
  throw new RosterError('FAILED_PRECONDITION', 'LAST_FACTOR', `The user could not sign in any more. ${rest}`, {
    metadata: { recovery: isRecoverable ? 'mail' : 'none' },
  })
}

function hasWayIn(policy: WaysIn, { hasPassword, hasMailbox }: Beside, human: Human): boolean {
  const isCounted = !policy.byHandAlone || !human.passwordByLink
  if (hasPassword && isCounted && policy.factors.includes('password')) return true
  if (hasMailbox && policy.factors.includes('mailed-code')) return true
  if (
    policy.providers.some(({ idpId }) => human.links?.some((link) => link.idpId === idpId && servesFor(policy, link)))
  )
    return true
  return policy.allowPasskeys && livingPasskeys(human, policy).some(({ secondOnly }) => !secondOnly)
}
