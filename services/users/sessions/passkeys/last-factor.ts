import { RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { Human } from '../../directory/events/human.ts'
import { livingPasskeys } from '../../directory/events/passkeys.ts'
import type { User } from '../../directory/events/user.ts'
import { findLinkOf } from './living-link.ts'
import { loadPersonPolicy } from '../login-policy/load-person-policy.ts'
import { askedSecondFactors, ownFactors, type PersonPolicy } from '../login-policy/login-policy.ts'
import { maySetUp } from '../factors/asked-first.ts'
import { factorKinds, isWayOut } from '../factors/kinds.ts'
import type { LeavesEnough } from '../factors/removal.ts'

/**
 * Whether a factor of a user may go, where the policy demands a second one. Another user takes the last one that is more than a
 * mailbox only where the person has a link for a new one: who knows the password would set one up in the next sign-in. Where
 * no passkeys serve there are no such links, and the person would be lost with the factor. The person takes what the next
 * sign-in can do without. FAILED_PRECONDITION LAST_FACTOR.
 */
export async function leavingEnough(context: Context, userId: string, call: Call) {
  const user = await context.store.load<User>('user', userId)
  const policy = await loadPersonPolicy(context, { userId, organizationId: user?.organizationId ?? '' }, call)
  const isOwn = call.caller.userId === userId
  const isLinked =
    isOwn || !policy.forceMfa || !serves(policy, 'passkey') || (await findLinkOf(context, userId, call)) !== undefined
  return leavesEnough(policy, { isOwn, isLinked })
}

/** Pure. */
export function leavesEnough(
  policy: PersonPolicy,
  { isOwn, isLinked }: { isOwn: boolean; isLinked: boolean },
): LeavesEnough {
  return (before, after) => {
    if (!policy.forceMfa || hasStrong(policy, after) || !hasStrong(policy, before)) return
    if (isOwn ? canProve(policy, after) : isLinked) return
    throw new RosterError(
      'FAILED_PRECONDITION',
      'LAST_FACTOR',
      'The login policy demands a second factor, and this is the last one of the user.',
    )
  }
}

// More than the mailbox. A security key of the person's own serves whatever the policy says of passkeys.
function hasStrong(policy: PersonPolicy, human: Human): boolean {
  const { demanded, further } = ownFactors(human, policy)
  const isLiving = livingPasskeys(human, policy).length > 0
  const own = demanded.filter((kind) => kind !== 'otp-email' && !isWayOut(kind) && (kind !== 'passkey' || isLiving))
  return (
    own.some((kind) => policy.secondFactors.includes(kind)) || further.some((kind) => isLiving && serves(policy, kind))
  )
}

function serves(
  { secondFactors, allowPasskeys }: Pick<PersonPolicy, 'secondFactors' | 'allowPasskeys'>,
  kind: PersonPolicy['secondFactors'][number],
): boolean {
  return secondFactors.includes(kind) && (kind !== 'passkey' || allowPasskeys)
}

// The next sign-in asks for something that the person can prove, or sets up.
function canProve(policy: PersonPolicy, human: Human): boolean {
  const asked = askedSecondFactors(policy, ownFactors(human, policy))
  const user = { human } as User
  // Whom a mailed code lets in sets up nothing by that.
  const maySet = policy.factors.includes('password') && maySetUp(asked, human)
  return maySet || asked.some((kind) => factorKinds[kind].second!.isReady(user, policy))
}
