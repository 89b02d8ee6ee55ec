import type { AggregateKey } from '#lib/eventstore/aggregate'
import type { Removed } from './removed.ts'

/**
 * The events of a membership. It belongs to the instance or to an organization. A member of a project belongs to the
 * organization that gave the roles.
 */
export type MemberEvent =
  | { type: 'added'; payload: NewMember }
  | { type: 'changed'; payload: { userId: string; roles: string[] } }
  | Removed

export interface NewMember {
  userId: string
  /** Missing for a member of the organization or the instance. */
  projectId?: string
  roles: string[]
}

export interface Member extends NewMember {
  removed?: true
}

/** Names a membership. */
export function keyOfMember(id: string): AggregateKey<Member> {
  return { type: 'member', id }
}

/** The membership after an event. */
export function evolveMember(member: Member | undefined, { type, payload }: MemberEvent): Member {
  if (type === 'added') return payload
  if (member === undefined) throw new Error(`a member begins with ${type}`)
  return type === 'changed' ? { ...member, roles: payload.roles } : { ...member, removed: true }
}
