import type { Aggregate, Existing, Read } from '#lib/eventstore/aggregate'
import type { Decision, Guard } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { isOpen } from '../../../organization-status.ts'
import type { Context } from '../../context.ts'
import { decideByInvite, findRightInvite, mayUseInvite, provedByInvite } from '../../directory/passwords/invite-code.ts'
import { type Human, type Invite, isOpenInvite } from '../../directory/events/human.ts'
import type { User, UserEvent } from '../../directory/events/user.ts'
import { linking } from '../../directory/links/link.ts'
import { findUserById, type LoginUser } from '../../directory/login-names/login-user.ts'
import { isOrganizationOpen, statuses } from '../../directory/organizations/statuses.ts'
import { storePassword } from '../../directory/passwords/store-password.ts'
import { isActive } from '../../directory/states/user-state.ts'
import type { ChosenFactor } from './add-invited.ts'
import { seerOfCode } from './seer-of-code.ts'
import { Superseded } from '../../sessions/browsers/superseded.ts'

/** A user without a password, whose code was right, and whose invitation is still open. */
export interface InvitedUser {
  user: Read<Existing<User>>
  human: Human & { invite: Invite }
}

interface Opened {
  id: string
  codeId: string
}

/** As `openByCode`, of the invitation of a user. An unknown user takes the same work. */
export async function openByInviteCode(
  context: Context,
  { id, typed }: { id: string; typed: string },
  call: Call,
): Promise<string | undefined> {
  const accepted = await findRightInvite(context, { userId: id, typed }, call)
  const { requestId, deadline } = call
  return context.store.execute({
    aggregate: { type: 'user', id },
    call: { caller: { userId: '' }, requestId, deadline },
    decide: (user: Aggregate<User>, now) => decideByInvite(context.keys, user, { typed, accepted }, now, () => []),
    respond: ({ answer }) => answer,
  })
}

/** Undefined where the invitation was used, has expired or was sent again, or where the inviter may give it no more. */
export async function findInvitedUser(
  context: Context,
  { id, codeId }: Opened,
  call: Call,
): Promise<InvitedUser | undefined> {
  const user = await context.store.load<User>('user', id)
  const human = user?.state.human
  if (!user || !isActive(user.state) || !isOpenInvite(human, user.readAt) || human.invite.codeId !== codeId)
    return undefined
  if (!(await isOrganizationOpen(context, user.organizationId)) || !(await mayUseInvite(context, id, call)))
    return undefined
  return { user, human }
}

/**
 * Gives an invited user the first password, or in its place a passkey or a link to an identity provider, and proves the address
 * where the code was mailed. Throws `Superseded`, `NotLinked`.
 */
export async function setFirstFactor(
  context: Context,
  { user: { id, organizationId }, human: { invite } }: InvitedUser,
  { hash, passkey, link, guards }: ChosenFactor & { guards: Guard[] },
  { requestId, deadline }: Call,
): Promise<LoginUser> {
  const { codeId, delivery, askedBy: inviterId = invite.invitedBy } = invite
  const seer = await seerOfCode(context, { delivery, inviterId, organizationId }, { requestId, deadline })
  await context.store.execute({
    aggregate: { type: 'user', id },
    reads: { status: statuses.key(organizationId) },
    call: { caller: { userId: id }, requestId, deadline },
    decide({ state }: Aggregate<User>, now, { status }): Decision<UserEvent> {
      const human = state?.human
      // Any other password ends the invitation.
      if (!isActive(state) || !isOpen(status) || !isOpenInvite(human, now) || human.invite.codeId !== codeId)
        throw new Superseded()
      const proved = provedByInvite(human.invite)
      // No password ends the invitation here.
      if (!passkey && hash === undefined) {
        const isUnproved = proved.length === 0 && !human.isVerified
        const marks = { ...(isUnproved && { unproved: true as const }), ...(seer && { named: true as const }) }
        const linked = link && linking({ ...link, ...marks })
        return {
          events: [...proved, { type: 'invite.code.used', payload: { codeId } }, ...(linked?.events ?? [])],
          claims: linked?.claims ?? [],
          guards,
          answer: undefined,
        }
      }
      if (!passkey)
        return {
          events: [...proved, { type: 'password.changed', payload: { codeId } }],
          writes: storePassword(id, hash, ''),
          guards,
          answer: undefined,
        }
      const { writes, claims, ...made } = passkey.stored(id, now)
      return {
        // No password ends the invitation here.
        events: [
          ...proved,
          { type: 'invite.code.used', payload: { codeId } },
          passkey.event({ codeId, ...(seer && { setBy: seer }) }),
        ],
        writes,
        claims,
        guards: [...made.guards, ...guards],
        answer: undefined,
      }
    },
  })
  return (await findUserById(context, id))!
}
