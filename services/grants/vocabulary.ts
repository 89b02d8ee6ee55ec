/** The events of an organization. */
export type OrganizationEvent =
  | { type: 'added'; payload: NewOrganization }
  | { type: 'changed'; payload: { name: string } }
  | { type: 'domain.changed'; payload: { primaryDomain: string } }
  | { type: 'deactivated'; payload: {} }
  | { type: 'reactivated'; payload: {} }
  | { type: 'removed'; payload: {} }

export interface NewOrganization {
  name: string
  primaryDomain: string
}

export interface Organization extends NewOrganization {
  inactive?: true
  removed?: true
}

/** The events of a membership. It belongs to the organization, or to the instance. */
export type MemberEvent = { type: 'added'; payload: NewMember } | Removed

export interface NewMember {
  userId: string
  roles: string[]
}

export interface Member extends NewMember {
  removed?: true
}

/** A membership or a grant was taken from its user. */
export type Removed = { type: 'removed'; payload: { userId: string } }

/** The events of a project. It belongs to the organization that owns it. */
export type ProjectEvent =
  | { type: 'added'; payload: { name: string } }
  | { type: 'role.added'; payload: { roleKey: string; displayName: string; group: string } }

export interface Project {
  name: string
  roles: Record<string, { displayName: string; group: string }>
}

/** The events of the grant of a project to another organization. It belongs to the project's owner. */
export type ProjectGrantEvent = { type: 'added'; payload: ProjectGrant }

export interface ProjectGrant {
  projectId: string
  grantedOrganizationId: string
  roleKeys: string[]
}

/** The events of a user grant. It belongs to the organization that gave it. */
export type UserGrantEvent = { type: 'added'; payload: NewUserGrant } | Removed

export interface NewUserGrant {
  userId: string
  projectId: string
  /** Empty where the organization owns the project. */
  projectGrantId: string
  roleKeys: string[]
}

export interface UserGrant extends NewUserGrant {
  removed?: true
}

/**
 * The events of the note that a user was removed. The note has the user's id, and each operation that gives a user
 * something reads it.
 */
export type RemovedUserEvent = { type: 'noted'; payload: {} }

/** Each aggregate after an event. */
export const evolve = {
  organization: evolveOrganization,
  member: evolveMember,
  project: evolveProject,
  project_grant: (_: unknown, event: ProjectGrantEvent): ProjectGrant => event.payload,
  user_grant: evolveUserGrant,
  removed_user: (_: unknown, event: RemovedUserEvent): {} => event.payload,
}

function evolveOrganization(organization: Organization | undefined, event: OrganizationEvent): Organization {
  if (event.type === 'added') return event.payload
  if (organization === undefined) throw new Error(`an organization begins with ${event.type}`)
  const { inactive: _, ...active } = organization
  if (event.type === 'deactivated') return { ...active, inactive: true }
  if (event.type === 'reactivated') return active
  if (event.type === 'removed') return { ...organization, removed: true }
  return { ...organization, ...event.payload }
}

function evolveMember(member: Member | undefined, event: MemberEvent): Member {
  if (event.type === 'added') return event.payload
  if (member === undefined) throw new Error(`a member begins with ${event.type}`)
  return { ...member, removed: true }
}

function evolveUserGrant(grant: UserGrant | undefined, event: UserGrantEvent): UserGrant {
  if (event.type === 'added') return event.payload
  if (grant === undefined) throw new Error(`a user grant begins with ${event.type}`)
  return { ...grant, removed: true }
}

function evolveProject(project: Project | undefined, event: ProjectEvent): Project {
  if (event.type === 'added') return { name: event.payload.name, roles: {} }
  if (project === undefined) throw new Error(`a project begins with ${event.type}`)
  const { roleKey, ...role } = event.payload
  return { ...project, roles: { ...project.roles, [roleKey]: role } }
}

/** Kinds of the unique keys. */
export const keyKinds = {
  /** Of all organizations. */
  primaryDomain: 'primary_domain',
  /** Scope: organization; key: user. */
  member: 'member',
  /** Scope: project; key: the organization that it is granted to. */
  projectGrant: 'project_grant',
  /** Scope: organization. */
  userGrant: 'user_grant',
}
