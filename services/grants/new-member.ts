import { RosterError } from '#lib/errors'
import type { Decision } from '#lib/eventstore/command'
import { keyKinds, type Member, type MemberEvent } from './vocabulary.ts'

/** Adds a member to an organization, or to the instance by its id. */
export function addedMember(organizationId: string, member: Member): Decision<MemberEvent> {
  const taken = new RosterError('ALREADY_EXISTS', 'MEMBER_EXISTS', 'The user is a member of the organization already.')
  return {
    organizationId,
    claims: [{ kind: keyKinds.member, scope: organizationId, key: member.userId, taken }],
    events: [{ type: 'added', payload: member }],
    answer: undefined,
  }
}
