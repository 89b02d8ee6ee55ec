import { type UserGrant, UserGrantState } from '@zitadel/proto/zitadel/user_pb'
import { each } from '../each.ts'
import { faultsOf } from '../roster/faults-of.ts'
import { type Found, type Item, movePage } from './move-page.ts'
import type { Migration, OurOrganization } from '../ours.ts'
import { findStrangers } from './strangers.ts'
import { Refusal, refusalOf } from '../roster/target.ts'

interface NewGrant extends Item {
  grant: UserGrant
}

/** Adds the user grants that an organization gave, and deactivates those that are inactive. */
export async function moveUserGrants(migration: Migration, organization: OurOrganization): Promise<void> {
  const { source, report } = migration
  const isEmpty = await hasNoGrants(migration, organization)
  let count = 0
  for await (const page of source.userGrants(organization.id)) {
    const valid = page.flatMap((grant) => toItem(migration, organization, grant))
    const strangers = await findStrangers(
      migration,
      valid.map(({ grant }) => grant.userId),
    )
    const items = valid.filter(({ id, grant }) => {
      const why = strangers.get(grant.userId)
      if (why !== undefined) report.refused('user grant', id, why)
      return why === undefined
    })
    const look = async (grants: NewGrant[], again: boolean) =>
      isEmpty && !again ? new Map<string, Found>() : lookFor(migration, organization, grants)
    const bulk = { path: '/management/v1/user_grants/_bulk', field: 'userGrants' }
    const here = await movePage(migration, { kind: 'user grant', bulk, organization: organization.id, look }, items)
    await each(here, ({ item, before }) =>
      deactivate(migration, organization, item, before?.state ?? 'USER_GRANT_STATE_ACTIVE'),
    )
    report.progress(`${(count += page.length)} user grants of organization ${organization.id}`)
  }
}

function toItem({ report, projects }: Migration, organization: OurOrganization, grant: UserGrant): NewGrant[] {
  const { id, userId, projectId, projectGrantId, roleKeys, orgId } = grant
  const request = { userId, projectId, projectGrantId, roleKeys, userGrantId: id }
  const why =
    orgId !== organization.id
      ? 'ZITADEL says that it belongs to another organization'
      : !projects.has(projectId)
        ? 'its project is not moved'
        : faultsOf('roster.grants.v1.AddUserGrantRequest', request)
  if (why === undefined) return [{ id, grant, request }]
  report.refused('user grant', id, why)
  return []
}

// In an empty organization there is nothing to look for, grant by grant.
async function hasNoGrants({ target }: Migration, { id, exists }: OurOrganization): Promise<boolean> {
  if (!exists) return true
  const { userGrants = [] } = await target.ask('POST', '/management/v1/users/grants/_search', { limit: 1 }, id)
  return userGrants.length === 0
}

async function lookFor(
  { target }: Migration,
  organization: OurOrganization,
  items: NewGrant[],
): Promise<Map<string, Found>> {
  const found = new Map<string, Found>()
  await each(items, async ({ id, grant: { userId, projectId } }) => {
    const path = `/management/v1/users/${encodeURIComponent(userId)}/grants/${id}`
    try {
      const { userGrant } = await target.ask('GET', path, undefined, organization.id)
      const isSame = userGrant.projectId === projectId
      found.set(id, isSame ? { state: userGrant.state } : { why: 'a grant of another project has this id in Roster' })
    } catch (error) {
      if (!(error instanceof Refusal && error.reason === 'USER_GRANT_NOT_FOUND')) throw error
    }
  })
  return found
}

async function deactivate(
  { target, report, dry }: Migration,
  organization: OurOrganization,
  { id, grant: { userId, state: wanted } }: NewGrant,
  state: string,
): Promise<void> {
  if (wanted !== UserGrantState.INACTIVE) return
  if (state !== 'USER_GRANT_STATE_ACTIVE') return report.there('state')
  const path = `/management/v1/users/${encodeURIComponent(userId)}/grants/${id}/_deactivate`
  const why = dry ? undefined : await refusalOf(target.ask('POST', path, {}, organization.id))
  if (why === undefined) report.moved('state')
  else report.refused('state', id, why)
}
