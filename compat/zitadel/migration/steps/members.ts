import type { Member } from '@zitadel/proto/zitadel/member_pb'
import { each } from '../each.ts'
import { faultsOf } from '../roster/faults-of.ts'
import type { Migration, OurOrganization, OurProject } from '../ours.ts'
import { shown } from '../shown.ts'
import { findStrangers } from './strangers.ts'
import { Refusal, whyOf } from '../roster/target.ts'

/** A place where users have roles: the operation that gives them there, and its acting organization. */
interface Place {
  name: string
  path: string
  request: string
  fields: { projectId?: string }
  organization?: string
  exists: boolean
}

/** Gives the users their roles on the instance. */
export async function moveInstanceMembers(migration: Migration): Promise<void> {
  const place = { name: 'instance', path: '/admin/v1/members', fields: {}, exists: true }
  const request = 'roster.grants.v1.AddInstanceMemberRequest'
  await move(migration, { ...place, request }, migration.source.instanceMembers())
}

/** Gives users their roles in an organization. */
export async function moveOrganizationMembers(migration: Migration, { id, exists }: OurOrganization): Promise<void> {
  const request = 'roster.grants.v1.AddOrganizationMemberRequest'
  const place = { name: id, path: '/management/v1/orgs/me/members', request, fields: {}, organization: id, exists }
  await move(migration, place, migration.source.organizationMembers(id))
}

/** Gives users their roles in a project, by its owner and by the organizations that it is granted to. */
export async function moveProjectMembers(migration: Migration, project: OurProject): Promise<void> {
  const { source, organizations } = migration
  const { id: projectId, organizationId, exists } = project
  const path = `/management/v1/projects/${projectId}/members`
  const request = 'roster.grants.v1.AddProjectMemberRequest'
  const place = { name: projectId, path, request, fields: { projectId }, exists }
  await move(migration, { ...place, organization: organizationId }, source.projectMembers(organizationId, projectId))
  for await (const page of source.projectGrants(organizationId, projectId))
    for (const { grantId, grantedOrgId } of page) {
      if (!organizations.has(grantedOrgId)) continue
      const members = source.projectGrantMembers(organizationId, projectId, grantId)
      await move(migration, { ...place, organization: grantedOrgId }, members)
    }
}

async function move(migration: Migration, place: Place, pages: AsyncGenerator<Member[]>): Promise<void> {
  for await (const page of pages) {
    const valid = page.flatMap(({ userId, roles }) => toRequest(migration, place, userId, roles))
    const strangers = await findStrangers(
      migration,
      valid.map(({ userId }) => userId),
    )
    await each(valid, async (request) => {
      const why = strangers.get(request.userId)
      if (why !== undefined) refuse(migration, place, request.userId, why)
      else await add(migration, place, request)
    })
  }
}

function toRequest(migration: Migration, place: Place, userId: string, roles: string[]) {
  const isKnown = (role: string) =>
    faultsOf(place.request, { ...place.fields, userId: 'u', roles: [role] }) === undefined
  const known = [...new Set(roles)].filter(isKnown)
  for (const role of roles)
    if (!known.includes(role)) refuse(migration, place, userId, `Roster has no role ${shown(role)} there`)
  const request = { ...place.fields, userId, roles: known }
  const why = known.length === 0 ? undefined : faultsOf(place.request, request)
  if (why !== undefined) refuse(migration, place, userId, why)
  return known.length > 0 && why === undefined ? [request] : []
}

async function add(migration: Migration, place: Place, request: { userId: string }): Promise<void> {
  const { target, report, dry } = migration
  const { path, organization, exists } = place
  try {
    const query = { userId: request.userId }
    const found = exists ? await target.ask('POST', `${path}/_search`, query, organization) : {}
    // Somebody may have changed the roles here, so they stay.
    if (found.members?.length > 0) return report.there('member')
    if (!dry) await target.ask('POST', path, request, organization)
    report.moved('member')
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    refuse(migration, place, request.userId, whyOf(error))
  }
}

function refuse({ report }: Migration, { name }: Place, userId: string, why: string): void {
  report.refused('member', `${name} ${userId}`, why)
}
