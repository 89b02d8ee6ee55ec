import { randomUUID } from 'node:crypto'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { orUnavailable } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import {
  type Invitation,
  type InvitationEvent,
  invitationKey,
  isOpenInvitation,
} from '../../directory/events/invitation.ts'
import { userKey } from '../../directory/events/user.ts'
import { Superseded } from '../../sessions/browsers/superseded.ts'
import { giveRoles, isRefusal } from './give-roles.ts'
import { keepAccepting, keepEnd } from './invitation-rows.ts'
import { withoutMail } from './new-link.ts'

interface Finishing {
  id: string
  userId: string
  codeId: string
  /** The roles could not be given any more. */
  rolesWithheld?: true
}

/**
 * Records that a known person accepts an invitation, before the roles are given: it is not revoked or sent again while they
 * are. Throws `Superseded` where it is not open any more.
 */
export async function claimInvitation(
  context: Pick<Context, 'store'>,
  { id, userId, codeId }: Finishing,
  { requestId, deadline }: Pick<Call, 'requestId' | 'deadline'>,
): Promise<void> {
  await context.store.execute({
    aggregate: invitationKey(id),
    reads: { user: userKey(userId) },
    call: { caller: { userId }, requestId, deadline },
    decide({ state }: Aggregate<Invitation>, now, { user }): Decision<InvitationEvent> {
      const isOpen = isOpenInvitation(state, now) && state.link.codeId === codeId
      if (!isOpen || !user.state || user.state.removed) throw new Superseded()
      return {
        events: [{ type: 'accepted', payload: { userId, codeId } }],
        writes: [keepAccepting(id, userId), withoutMail(id)],
        answer: undefined,
      }
    },
  })
}

// The roles are given, or were withheld. Of a known person, `accepted` came before; another one says what was withheld.
async function recordAccepted(
  context: Pick<Context, 'store'>,
  { id, userId, codeId, rolesWithheld }: Finishing,
  { requestId, deadline }: Pick<Call, 'requestId' | 'deadline'>,
): Promise<void> {
  await context.store.execute({
    aggregate: invitationKey(id),
    reads: { user: userKey(userId) },
    call: { caller: { userId }, requestId, deadline },
    decide({ state }: Aggregate<Invitation>, _now, { user }): Decision<InvitationEvent> {
      const isClaimed = state?.state === 'accepted' && state.userId === userId
      if (!(isClaimed || state?.state === 'open') || !user.state || user.state.removed) throw new Superseded()
      const accepted = {
        type: 'accepted' as const,
        payload: { userId, codeId, ...(rolesWithheld && { rolesWithheld }) },
      }
      return {
        events: isClaimed && !rolesWithheld ? [] : [accepted],
        writes: [keepEnd(id, 'accepted', userId), withoutMail(id)],
        commits: true,
        answer: undefined,
      }
    },
  })
}

/**
 * Gives the person who accepts an invitation its roles, and records that. Repeated, it goes on where it was cut off. A new
 * person exists by now, and a known one used the link up: where the inviter may give the roles no more, the invitation says
 * so.
 */
export async function finishInvitation(
  context: Context,
  id: string,
  call: Pick<Call, 'requestId' | 'deadline'>,
): Promise<void> {
  const { type } = invitationKey(id)
  const invitation = await context.store.load<Invitation>(type, id)
  if (!invitation || invitation.state.state === 'revoked') return
  const { link, userId = id } = invitation.state
  const { codeId } = link
  try {
    await giveRoles(context, invitation, userId, call)
    await recordAccepted(context, { id, userId, codeId }, call)
  } catch (error) {
    if (error instanceof Superseded) return
    if (!isRefusal(error)) throw error
    context.log.warn({ err: error, invitationId: id }, 'the inviter cannot give the roles of an invitation any more')
    await recordAccepted(context, { id, userId, codeId, rolesWithheld: true }, call).catch((lost: unknown) => {
      if (!(lost instanceof Superseded)) throw lost
    })
  }
}

const [every, patience, most] = [30_000, 30, 100]

/** Finishes invitations that a person accepts, and where the rest was cut off. */
export function startFinishingInvitations(context: Context): { stop(): void } {
  const timer = setInterval(() => {
    finishDue(context).catch((error: unknown) => context.log.warn({ err: error }, 'invitations were not finished'))
  }, every)
  return { stop: () => clearInterval(timer) }
}

/** `seconds`: the least age of the person's first event. */
export async function finishDue(context: Context, seconds = patience): Promise<void> {
  const due = await orUnavailable(context.sql<{ id: string }[]>`
    select invitation_id as id from invitations i
    join aggregates u on u.type = 'user' and u.id = i.user_id
    where i.user_id is not null and i.ended is null and u.created_at < roster_now() - make_interval(secs => ${seconds})
    limit ${most}
  `)
  for (const { id } of due) {
    const call = { requestId: randomUUID(), deadline: Date.now() + 10_000 }
    // One that cannot be finished holds up no other.
    await finishInvitation(context, id, call).catch((error: unknown) =>
      context.log.warn({ err: error, invitationId: id }, 'an invitation was not finished'),
    )
  }
}
