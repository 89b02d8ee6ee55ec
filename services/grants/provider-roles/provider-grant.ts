import { createHash } from 'node:crypto'
import { RosterError } from '#lib/errors'
import type { Aggregate, AggregateKey } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { removedHolding } from '../cascades/removed-holding.ts'
import { userGrantKey } from '../holdings.ts'
import { sameKeys } from '../projects/role-keys.ts'
import type { Project } from '../vocabulary/project.ts'
import type { ProjectGrant } from '../vocabulary/project-grant.ts'
import type { ProviderTable, TableRow } from '../vocabulary/provider-table.ts'
import type { UserGrant, UserGrantEvent } from '../vocabulary/user-grant.ts'

/** What a provider gives a user in a project is one user grant, beside that of a hand: always the same one, so that it knows its last sign-in. */
export function keyOfProviderGrant(idpId: string, userId: string, projectId: string): AggregateKey<UserGrant> {
  const hash = createHash('sha256')
    .update(JSON.stringify([idpId, userId, projectId]))
    .digest('hex')
  const id = [8, 4, 4, 4, 12].reduce<string[]>(
    (parts, length) => [...parts, hash.slice(at(parts), at(parts) + length)],
    [],
  )
  return { type: 'user_grant', id: id.join('-') }
}

const at = (parts: string[]) => parts.join('').length

/** A sign-in at a provider, and the rows of its table that it matches in one project. */
export interface Gift {
  idpId: string
  organizationId: string
  userId: string
  projectId: string
  rows: TableRow[]
  /** Of the record that had these rows. */
  sequence: number
  signedInAt: Date
}

interface Found {
  table: Aggregate<ProviderTable>
  project: Aggregate<Project>
  projectGrant: Aggregate<ProjectGrant> | undefined
}

/** The decision to give these roles, and no others. What the project has no more, or a project grant, is left out. */
export function decideGift(
  before: Aggregate<UserGrant>,
  gift: Gift,
  { table, project, projectGrant }: Found,
  mostKeys: number,
): Decision<UserGrantEvent> {
  const { idpId, organizationId, userId, projectId, signedInAt } = gift
  const { state } = before
  if (state?.signedInAt !== undefined && Date.parse(state.signedInAt) > signedInAt.getTime()) return nothing
  const rows = living(gift, table.state)
  const owned = project.organizationId === organizationId
  const givable = givableKeys(project.state, owned ? undefined : projectGrant?.state, owned)
  const roleKeys = [...new Set(rows.flatMap((row) => row.roleKeys))]
    .filter((key) => givable.has(key))
    .slice(0, mostKeys)
  if (roleKeys.length === 0) return removedHolding(before)
  const rowIds = rows.map(({ rowId }) => rowId).toSorted()
  const facts = { roleKeys, rowIds, signedInAt: signedInAt.toISOString() }
  if (state && !state.removed) {
    if (sameKeys(roleKeys, state.roleKeys) && sameKeys(rowIds, state.rowIds ?? [])) return nothing
    return { events: [{ type: 'changed', payload: facts }], answer: undefined }
  }
  const taken = new RosterError('ALREADY_EXISTS', 'USER_GRANT_EXISTS', 'The user has a grant of this provider already.')
  const added = { userId, projectId, projectGrantId: owned ? '' : projectGrant!.id, idpId, ...facts }
  return {
    organizationId,
    claims: [{ ...userGrantKey(organizationId, added), taken }],
    events: [{ type: 'added', payload: added }],
    answer: undefined,
  }
}

/** The decision to keep what a table still gives. */
export function decideRest(before: Aggregate<UserGrant>, rows: readonly TableRow[]): Decision<UserGrantEvent> {
  const { state } = before
  if (!state || state.removed) return nothing
  const left = rows.filter(({ rowId, projectId }) => projectId === state.projectId && state.rowIds?.includes(rowId))
  const given = new Set(left.flatMap((row) => row.roleKeys))
  const roleKeys = state.roleKeys.filter((key) => given.has(key))
  if (roleKeys.length === 0) return removedHolding(before)
  const rowIds = left.map(({ rowId }) => rowId).toSorted()
  if (sameKeys(roleKeys, state.roleKeys) && sameKeys(rowIds, state.rowIds ?? [])) return nothing
  return { events: [{ type: 'changed', payload: { roleKeys, rowIds } }], answer: undefined }
}

const nothing: Decision<never> = { events: [], answer: undefined }

// A table that came later took rows away, or roles of them.
function living({ rows, sequence }: Gift, table: ProviderTable | undefined): TableRow[] {
  if (!table || table.sequence < sequence) return rows
  return rows.flatMap((row) => table.rows.filter(({ rowId }) => rowId === row.rowId))
}

function givableKeys(
  project: Project | undefined,
  grant: ProjectGrant | undefined,
  owned: boolean,
): ReadonlySet<string> {
  if (!project || project.removed || !(owned || (grant && !grant.removed))) return new Set()
  return new Set(Object.keys(project.roles).filter((key) => owned || grant!.roleKeys.includes(key)))
}
