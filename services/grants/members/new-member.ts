import { RosterError } from '#lib/errors'
import type { Decision, Guard } from '#lib/eventstore/command'
import { memberKey } from '../holdings.ts'
import type { MemberEvent, NewMember } from '../vocabulary/member.ts'

/** Adds a member to an organization or a project there, or to the instance by its id. */
export function addedMember(organizationId: string, member: NewMember): Decision<MemberEvent> {
  const taken = new RosterError('ALREADY_EXISTS', 'MEMBER_EXISTS', 'The user is a member already.')
  return {
    organizationId,
    claims: [{ ...memberKey(organizationId, member), taken }],
    guards: [guardOf(organizationId, member.userId)],
    events: [{ type: 'added', payload: member }],
    answer: undefined,
  }
}

/** Memberships that one organization may give one user, those in its projects included. */
const mostGiven = 1000

// Others give a user memberships, and somebody has to hold them all. So each organization has a limit of its own.
function guardOf(organizationId: string, userId: string): Guard {
  const full = `The organization gave the user ${mostGiven} memberships already.`
  return {
    key: JSON.stringify(['memberships', organizationId, userId]),
    counted: { by: 'count_memberships', of: { organizationId, userId } },
    most: mostGiven,
    full: new RosterError('RESOURCE_EXHAUSTED', 'MEMBERSHIP_LIMIT_REACHED', full),
  }
}
