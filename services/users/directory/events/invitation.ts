import type { AggregateKey } from '#lib/eventstore/aggregate'
import { isAlive, type NewCode } from './code.ts'
import { withinAnHour } from './human.ts'

/** The aggregate of an invitation. No event has the address or another text about the person: the table has them. */
export const invitationType = 'invitation'

export type InvitationEvent =
  | { type: 'created'; payload: NewLink & InvitedTo }
  | { type: 'resent'; payload: NewLink }
  | { type: 'rejected'; payload: { codeId: string } }
  | { type: 'revoked'; payload: {} }
  | { type: 'accepted'; payload: { userId: string; codeId: string; rolesWithheld?: true } }

/** A link with its code, and who stands for the roles since then. */
export interface NewLink extends Omit<NewCode, 'askedBy'> {
  /** `mailed` proves the address. `returned`: the inviter has it. */
  delivery: 'mailed' | 'returned'
  inviterId: string
}

/** What a person gets who accepts. */
export interface InvitedTo {
  applicationId?: string
  landingUri?: string
  grants: { projectId: string; roleKeys: string[] }[]
  organizationRoles: string[]
}

export interface Invitation extends InvitedTo {
  link: NewLink
  wrongTries: number
  state: 'open' | 'accepted' | 'revoked'
  /** Who accepted it. */
  userId?: string
  rolesWithheld?: true
  /** When it was sent again, RFC 3339; only those of the last hour. */
  resends: string[]
}

/** Names an invitation. */
export function invitationKey(id: string): AggregateKey<Invitation> {
  return { type: invitationType, id }
}

/** The invitation after an event. */
export function evolveInvitation(invitation: Invitation | undefined, event: InvitationEvent, at: Date): Invitation {
  if (event.type === 'created') {
    const { applicationId, landingUri, grants, organizationRoles, ...link } = event.payload
    const place = { ...(applicationId && { applicationId }), ...(landingUri && { landingUri }) }
    return { ...place, grants, organizationRoles, link, wrongTries: 0, state: 'open', resends: [] }
  }
  if (invitation === undefined) throw new Error(`an invitation begins with ${event.type}`)
  switch (event.type) {
    case 'resent': {
      const resends = [...withinAnHour(invitation.resends, at), at.toISOString()]
      return { ...invitation, link: event.payload, wrongTries: 0, state: 'open', resends }
    }
    case 'rejected':
      return invitation.link.codeId === event.payload.codeId
        ? { ...invitation, wrongTries: invitation.wrongTries + 1 }
        : invitation
    case 'revoked':
      return { ...invitation, state: 'revoked' }
    case 'accepted': {
      const { userId, rolesWithheld } = event.payload
      return { ...invitation, state: 'accepted', userId, ...(rolesWithheld && { rolesWithheld }) }
    }
  }
}

/** Whether the link may still be opened. */
export function isOpenInvitation(invitation: Invitation | undefined, now: Date): invitation is Invitation {
  if (invitation?.state !== 'open') return false
  return isAlive({ ...invitation.link, delivery: 'pending', wrongTries: invitation.wrongTries }, now)
}
