import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { deriveCode, matchesCode } from '../../directory/email/code.ts'
import { maxWrongTries } from '../../directory/events/code.ts'
import {
  type Invitation,
  type InvitationEvent,
  invitationKey,
  isOpenInvitation,
} from '../../directory/events/invitation.ts'
import { findInvitation, keepDeadLink } from './invitation-rows.ts'

/**
 * Compares a typed code with that of an invitation, and counts a wrong one, one after the other, so that simultaneous
 * guesses count too. Returns the id of the code where it is right: it stays good. An unknown invitation takes the same work.
 */
export async function openByCode(
  context: Context,
  { id, typed }: { id: string; typed: string },
  { requestId, deadline }: Call,
): Promise<string | undefined> {
  const { email = '' } = (await findInvitation(context, id)) ?? {}
  return context.store.execute({
    aggregate: invitationKey(id),
    call: { caller: { userId: '' }, requestId, deadline },
    decide({ state }: Aggregate<Invitation>, now): Decision<InvitationEvent, string | undefined> {
      const living = isOpenInvitation(state, now) ? state.link : undefined
      const known = living ?? { codeId: '', keyId: context.keys.currentId, expiresAt: '' }
      const isRight = matchesCode(typed, deriveCode(context.keys, known, id, email, 'invitation-code'))
      if (living && isRight) return { events: [], answer: living.codeId }
      const events: InvitationEvent[] = living ? [{ type: 'rejected', payload: { codeId: living.codeId } }] : []
      const isLast = living !== undefined && state!.wrongTries + 1 >= maxWrongTries
      return { events, writes: isLast ? [keepDeadLink(id, now)] : [], answer: undefined, commits: true }
    },
    respond: ({ answer }) => answer,
  })
}
