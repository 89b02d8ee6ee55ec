import { RosterError } from '#lib/errors'
import type { Decision } from '#lib/eventstore/command'
import { memberKey } from '../holdings.ts'
import type { MemberEvent, NewMember } from '../vocabulary/member.ts'

/** Adds a member to an organization or a project there, or to the instance by its id. */
export function addedMember(organizationId: string, member: NewMember): Decision<MemberEvent> {
  const taken = new RosterError('ALREADY_EXISTS', 'MEMBER_EXISTS', 'The user is a member already.')
  return {
    organizationId,
    claims: [{ ...memberKey(organizationId, member), taken }],
    events: [{ type: 'added', payload: member }],
    answer: undefined,
  }
}
