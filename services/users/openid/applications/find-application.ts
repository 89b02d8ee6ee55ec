import type postgres from 'postgres'
import { batchCalls } from '#lib/batch-calls'
import { orUnavailable, type Sql } from '#lib/database/database'
import type { Origin } from '#lib/eventstore/command'
import { isOpen, type OrganizationStatus } from '../../../organization-status.ts'
import type { Context } from '../../context.ts'
import { type Closure, closureType } from '../events/closure.ts'
import type { MachineKey } from '../../directory/events/credentials.ts'
import { organizationType } from '../../directory/events/organization.ts'
import type {
  ApplicationCopy,
  ApplicationName,
  KnownApplication,
  KnownSecret,
  OidcCopy,
  ProjectCopy,
} from './application-copy.ts'
import { consoleApplication, namesConsole } from './console-application.ts'
import { openness } from './closures.ts'
import { type CopiedSecretRow, noteCopies } from './note-copies.ts'

export type { ApplicationName, KnownApplication } from './application-copy.ts'

/** An application with the fault that was found in it. */
export interface Judged<Fault> {
  known: KnownApplication | undefined
  fault: Fault | undefined
}

/**
 * The fault of an application that was loaded. Where there is one, asks grants once before it says so: what grants has
 * stored works at once. UNAVAILABLE.
 */
export async function confirmFault<Fault>(
  context: Pick<Context, 'sql' | 'store' | 'config' | 'grants'>,
  name: ApplicationName,
  copy: KnownApplication | undefined,
  call: Origin,
  faultOf: (known: KnownApplication | undefined) => Promise<Fault | undefined> | Fault | undefined,
): Promise<Judged<Fault>> {
  if ((await faultOf(copy)) === undefined) return { known: copy, fault: undefined }
  const known = await askForApplication(context, name, call)
  return { known, fault: await faultOf(known) }
}

async function askForApplication(
  { sql, store, config, grants }: Pick<Context, 'sql' | 'store' | 'config' | 'grants'>,
  name: ApplicationName,
  { requestId, deadline }: Origin,
): Promise<KnownApplication | undefined> {
  const by =
    'clientId' in name
      ? ({ $case: 'clientId', value: name.clientId } as const)
      : ({ $case: 'applicationId', value: name.applicationId } as const)
  const { copied } = await grants.lookupApplication({ by }, { requestId, deadline })
  await noteCopies({ sql, store }, copied, { caller: { userId: '' }, requestId, deadline })
  return copied.length > 0 ? loadApplication({ sql, config }, name) : undefined
}

/**
 * The application as users knows it, with its project; undefined where it knows none, or a removed one. Decisions compare
 * the closures again. Calls of the same moment share a statement. UNAVAILABLE STORE_UNAVAILABLE.
 */
export function loadApplication(
  { sql, config, remembered }: Pick<Context, 'sql' | 'config' | 'remembered'>,
  name: ApplicationName,
): Promise<KnownApplication | undefined> {
  if (namesConsole(name)) return Promise.resolve(consoleApplication(config))
  const key = 'clientId' in name ? `client ${name.clientId}` : `application ${name.applicationId}`
  const known = remembered?.get(key) as Promise<KnownApplication | undefined> | undefined
  if (known) return known
  const loading = loaderOf(sql)(name).then((row) =>
    row && !('removed' in row.state) ? knownAs(row, row.state) : undefined,
  )
  remembered?.set(key, loading)
  return loading
}

const loaders = new WeakMap<Sql, (name: ApplicationName) => Promise<Row | undefined>>()

function loaderOf(sql: Sql) {
  let load = loaders.get(sql)
  if (!load)
    loaders.set(sql, (load = batchCalls((names) => loadRows(sql, names), { span: { name: 'load applications' } })))
  return load
}

async function loadRows(sql: Sql, names: ApplicationName[]): Promise<(Row | undefined)[]> {
  const clientIds = names.flatMap((name) => ('clientId' in name ? name.clientId : []))
  const ids = names.flatMap((name) => ('applicationId' in name ? name.applicationId : []))
  // Joins might read all of a type.
  const one = (type: string, id: postgres.PendingQuery<postgres.Row[]>) =>
    sql`(select o.state from aggregates o where o.type = ${type} and o.id = ${id})`
  const rows = await orUnavailable(sql<Row[]>`
    select a.id, a.client_id as "clientId", a.organization_id as "organizationId", a.state,
      a.secrets, a.secret_hash as "secretHash", roster_now() as "readAt", p.state as project,
      ${one(closureType, sql`'application-' || a.id`)} as closure,
      ${one(closureType, sql`'project-' || p.id`)} as "projectClosure",
      ${one(organizationType, sql`a.organization_id collate "C"`)} as organization
    from copies a
    join copies p on p.type = 'project' and p.id = a.state ->> 'projectId'
    where a.type = 'application' and (a.client_id = any(${clientIds}) or a.id = any(${ids}))
  `)
  return names.map((name) =>
    rows.find((row) => ('clientId' in name ? row.clientId === name.clientId : row.id === name.applicationId)),
  )
}

function knownAs(row: Row, { keys = [], ...settings }: StoredApplication): KnownApplication {
  const { id, organizationId, project, closure, projectClosure, organization } = row
  const { checks = { roleCheck: false, hasProjectCheck: true, roleAssertion: false } } = project
  return {
    application: {
      id,
      organizationId,
      ...settings,
      keys: keys.map(({ keyId, ...key }) => ({ id: keyId, ...key })),
      ...openness(closure),
    },
    project: {
      id: settings.projectId,
      organizationId,
      ...checks,
      ...openness(projectClosure),
    },
    secrets: livingSecrets(row),
    isOrganizationOpen: isOpen({ state: organization ?? undefined }),
  }
}

function livingSecrets({ secrets, secretHash, readAt }: Row): KnownSecret[] {
  if (!secrets) return secretHash ? [{ id: '', hash: secretHash }] : []
  return secrets.flatMap(({ id, hash, expiresAt }) =>
    expiresAt !== undefined && new Date(expiresAt) <= readAt ? [] : { id, hash: Buffer.from(hash, 'hex') },
  )
}

interface Row {
  id: string
  clientId: string
  organizationId: string
  state: StoredApplication | { removed: true }
  /** Null where the row is older than the column: then `secretHash` is the only one, if it has one. */
  secrets: CopiedSecretRow[] | null
  secretHash: Buffer | null
  readAt: Date
  /** Without checks, they are the usual ones. */
  project: { checks?: Pick<ProjectCopy, 'roleCheck' | 'hasProjectCheck' | 'roleAssertion'> }
  closure: Closure | null
  projectClosure: Closure | null
  organization: OrganizationStatus | null
}

/** The state as grants keeps it. */
interface StoredApplication {
  projectId: string
  name: string
  clientId: string
  keys?: (Omit<MachineKey, 'id'> & { keyId: string })[]
  oidc?: OidcCopy
  api?: NonNullable<ApplicationCopy['api']>
}
