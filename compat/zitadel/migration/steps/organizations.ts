import { type Organization, OrganizationState } from '@zitadel/proto/zitadel/org/v2/org_pb'
import { faultsOf } from '../roster/faults-of.ts'
import type { Migration } from '../ours.ts'
import { shown } from '../shown.ts'
import { type Answer, Refusal, refusalOf } from '../roster/target.ts'

/** Adds the organizations, active for now, and notes which ones are ours. Nothing goes into any other. */
export async function moveOrganizations(migration: Migration, wanted: string[]): Promise<void> {
  const { source, report } = migration
  const seen = new Set<string>()
  for (const id of wanted.length > 0 ? wanted : [undefined]) {
    for await (const page of source.organizations(id))
      for (const organization of page) {
        if (organization.state === OrganizationState.REMOVED || (id !== undefined && organization.id !== id)) continue
        if (seen.has(organization.id)) report.refused('organization', organization.id, 'ZITADEL has this id twice')
        else await move(migration, organization)
        seen.add(organization.id)
      }
    if (id !== undefined && !seen.has(id)) report.refused('organization', id, 'ZITADEL has none with this id')
  }
}

async function move(migration: Migration, organization: Organization): Promise<void> {
  const { report, organizations } = migration
  const { id, name, state } = organization
  const request = { name, orgId: id }
  const why = faultsOf('roster.grants.v1.AddOrganizationRequest', request) ?? (await settle(migration, organization))
  if (why !== undefined && why !== exists)
    return report.refused('organization', id, `${why}, and nothing of it is moved`)
  organizations.set(id, {
    id,
    name,
    exists: why === exists || !migration.dry,
    inactive: state === OrganizationState.INACTIVE,
  })
}

const exists = 'exists'

// Returns why the organization cannot be ours, `exists` where it is there already, and undefined for a new one.
async function settle(migration: Migration, organization: Organization): Promise<string | undefined> {
  const { target, report, state, dry } = migration
  const { id, name, primaryDomain } = organization
  if (reserved.has(id)) return 'Roster keeps the id for itself'
  const there = await find()
  // ZITADEL may name any id, and so ask for users and owners in an organization that it has nothing to do with.
  if (there && !state.hasAdded(id)) return `Roster has the organization ${shown(there.name)} under this id`
  if (there) report.there('organization')
  else {
    if (!dry) state.adds(id)
    const why = dry ? undefined : await refusalOf(target.ask('POST', '/management/v1/orgs', { name, orgId: id }))
    if (why !== undefined) return why
    report.moved('organization')
  }
  const found = there ?? (dry ? undefined : await find())
  // Somebody who changed the organization here may have chosen the domain, too.
  const wanted = primaryDomain !== '' && found?.details.sequence === '1' && found.primaryDomain !== primaryDomain
  if (wanted && !dry) {
    const path = `/management/v1/orgs/me/domains/${encodeURIComponent(primaryDomain)}/_set_primary`
    const why = await refusalOf(target.ask('POST', path, {}, id))
    if (why !== undefined) report.refused('state', id, `the primary domain stays ${found.primaryDomain}: ${why}`)
  }
  return there ? exists : undefined

  async function find(): Promise<Answer> {
    try {
      return (await target.ask('GET', `/admin/v1/orgs/${encodeURIComponent(id)}`)).organization
    } catch (error) {
      if (error instanceof Refusal && error.reason === 'ORGANIZATION_NOT_FOUND') return undefined
      throw error
    }
  }
}

/** Ids of Roster's first start. */
const reserved = new Set(['roster', 'default'])
