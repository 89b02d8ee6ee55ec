import { instance } from '#lib/instance'
import { type Caller, holds } from '#lib/rpc/caller'

/** What a caller may see of an explanation. */
export interface Sight {
  callerId: string
  /** The caller asks about itself. */
  isSelf: boolean
  /** Whether the caller may read an organization, or the instance by its id. */
  mayRead(organizationId: string): boolean
}

/** The sight of a caller that asks about a user. */
export function sightOf(caller: Caller, userId: string): Sight {
  return {
    callerId: caller.userId,
    isSelf: caller.userId === userId,
    mayRead: (organizationId) =>
      organizationId === instance.id ? holds(caller, 'iam.member.read') : holds(caller, 'org.read', organizationId),
  }
}
