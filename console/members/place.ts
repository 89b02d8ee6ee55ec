import { instanceRoles, organizationRoles } from '../texts/roles.ts'

/** Where members have their roles: the operations, permissions and roles of it. */
export interface Place {
  search: typeof ofOrganization.search | typeof ofInstance.search
  add: typeof ofOrganization.add | typeof ofInstance.add
  update: typeof ofOrganization.update | typeof ofInstance.update
  remove: typeof ofOrganization.remove | typeof ofInstance.remove
  read: string
  write: string
  delete: string
  roles: Record<string, string>
}

export const ofOrganization = {
  search: 'roster.grants.v1.OrganizationService/SearchOrganizationMembers',
  add: 'roster.grants.v1.OrganizationService/AddOrganizationMember',
  update: 'roster.grants.v1.OrganizationService/UpdateOrganizationMember',
  remove: 'roster.grants.v1.OrganizationService/RemoveOrganizationMember',
  read: 'org.member.read',
  write: 'org.member.write',
  delete: 'org.member.delete',
  roles: organizationRoles,
} as const

export const ofInstance = {
  search: 'roster.grants.v1.InstanceService/SearchInstanceMembers',
  add: 'roster.grants.v1.InstanceService/AddInstanceMember',
  update: 'roster.grants.v1.InstanceService/UpdateInstanceMember',
  remove: 'roster.grants.v1.InstanceService/RemoveInstanceMember',
  read: 'iam.member.read',
  write: 'iam.member.write',
  delete: 'iam.member.delete',
  roles: instanceRoles,
} as const
