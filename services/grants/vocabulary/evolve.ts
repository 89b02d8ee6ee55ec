import { evolveApplication } from './application.ts'
import { evolveMember } from './member.ts'
import { evolveOrganization } from './organization.ts'
import { evolveProject } from './project.ts'
import { evolveProjectGrant } from './project-grant.ts'
import type { ProviderTableEvent, ProviderTable } from './provider-table.ts'
import type { RemovedUserEvent } from './removed-user.ts'
import { evolveUserGrant } from './user-grant.ts'

/** Each aggregate after an event. */
export const evolve = {
  organization: evolveOrganization,
  member: evolveMember,
  project: evolveProject,
  project_grant: evolveProjectGrant,
  user_grant: evolveUserGrant,
  application: evolveApplication,
  provider_table: (_: ProviderTable | undefined, event: ProviderTableEvent): ProviderTable => event.payload,
  removed_user: (_: unknown, event: RemovedUserEvent): {} => event.payload,
}
