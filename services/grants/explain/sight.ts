import { instance } from '#lib/instance'
import { type Caller, holds } from '#lib/rpc/caller'

/** What a caller may see of an explanation. */
export interface Sight {
  callerId: string
  /** The caller asks about itself. */
  isSelf: boolean
  /** Whether the caller may read an organization, or the instance by its id. */
  mayRead(organizationId: string): boolean
  /** Whether the caller may read the members there. Everybody may read its own memberships. */
  seesMember(organizationId: string, projectId: string | undefined): boolean
  /** Whether the caller may read projects of the organization, or granted to it, or this one of them. */
  mayReadProject(organizationId: string, projectId: string): boolean
}

/** The sight of a caller that asks about a user. */
export function sightOf(caller: Caller, userId: string): Sight {
  const isSelf = caller.userId === userId
  return {
    callerId: caller.userId,
    isSelf,
    mayRead: (organizationId) =>
      organizationId === instance.id ? holds(caller, 'iam.member.read') : holds(caller, 'org.read', organizationId),
    seesMember(organizationId, projectId) {
      if (isSelf) return true
      if (organizationId === instance.id) return holds(caller, 'iam.member.read')
      if (projectId === undefined) return holds(caller, 'org.member.read', organizationId)
      return holds(caller, 'project.member.read', organizationId, projectId)
    },
    mayReadProject: (organizationId, projectId) => holds(caller, 'project.read', organizationId, projectId),
  }
}
