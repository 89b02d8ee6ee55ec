import { loadReads } from '#lib/eventstore/load-reads'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Keyring } from '#lib/encryption/keys'
import type { Call } from '#lib/rpc/headers'
import { RosterError } from '#lib/errors'
import type { Context } from '../../context.ts'
import { hasOwnFactor, type Invite } from '../events/human.ts'
import { type User, type UserEvent, userKey } from '../events/user.ts'
import { findUserById } from '../login-names/login-user.ts'
import { mayStillActOn } from '../may-act-on.ts'
import { isActive } from '../states/user-state.ts'
import { type Judgement, judgeCode } from '../email/judge-code.ts'

/** Whether a typed code is that of the user's invitation. */
export function judgeInvite(
  keys: Keyring,
  userId: string,
  user: User | undefined,
  typed: string,
  now: Date,
): Judgement {
  const human = isActive(user) ? user?.human : undefined
  return judgeCode(keys, { userId, email: human?.email, code: human?.invite, typed }, now)
}

/**
 * The id of the code of the user's invitation, where a typed one is right and may still be used: as long as the user has no
 * password, and no more roles than who invites, and who set the address. Changes nothing.
 */
export async function findRightInvite(
  context: Context,
  { userId, typed }: { userId: string; typed: string },
  call: Call,
): Promise<string | undefined> {
  const { user } = await loadReads(context.store, { user: userKey(userId) })
  const isRight = judgeInvite(context.keys, userId, user.state, typed, user.readAt) === 'right'
  // Only where the code is right, so that a wrong one takes the same work for all.
  return isRight && (await mayUseInvite(context, userId, call)) ? user.state!.human!.invite!.codeId : undefined
}

/** Whether the invitation of a user stands for no more than its inviter may give, and the user has no password. */
export async function mayUseInvite(context: Context, userId: string, call: Call): Promise<boolean> {
  const found = await findUserById(context, userId)
  const { invite, emailSetBy } = found?.state.human ?? {}
  if (!found || found.hash !== null || !invite || hasOwnFactor(found.state.human)) return false
  return mayStillActOn(context, [invite.invitedBy, invite.askedBy, emailSetBy], userId, call)
}

/** Counts a wrong try of an invitation's code, and does with the right one what `use` says. */
export function decideByInvite(
  keys: Keyring,
  { id, state }: Aggregate<User>,
  { typed, accepted }: { typed: string; accepted: string | undefined },
  now: Date,
  use: (invite: Invite) => UserEvent[],
): Decision<UserEvent, string | undefined> & { isRight: boolean } {
  const answer = judgeInvite(keys, id, state, typed, now)
  const invite = state?.human?.invite
  if (answer === 'right' && invite && invite.codeId === accepted)
    return { events: use(invite), answer: invite.codeId, commits: true, isRight: true }
  const events: UserEvent[] =
    answer === 'wrong' ? [{ type: 'email.code.rejected', payload: { codeId: invite!.codeId } }] : []
  return { events, answer: undefined, commits: true, isRight: false }
}

/** What a used invitation proves: the address, if it was mailed. */
export function provedByInvite({ codeId, delivery, askedBy, vouchedOn }: Invite): UserEvent[] {
  if (delivery === 'returned') return []
  // Another code may have followed, so the event says what this one is worth.
  const word = askedBy === undefined ? 'instance' : vouchedOn
  return [{ type: 'email.verified', payload: { codeId, ...(word && { vouchedOn: word }) } }]
}

/** FAILED_PRECONDITION PASSWORD_SET. */
export function passwordSet(): RosterError {
  return new RosterError(
    'FAILED_PRECONDITION',
    'PASSWORD_SET',
    'The user has a password, a passkey or an authenticator app already.',
  )
}
