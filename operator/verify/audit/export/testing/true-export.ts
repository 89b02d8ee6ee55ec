import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AuditedRow, canonicalRow } from '#lib/audit-log/canonical-row'
import { type Checkpoint, makeAuditKey, signCheckpoint } from '#lib/audit-log/checkpoint'
import { type ChainEnd, makePage, type Page, rowKey } from '#lib/audit-log/page'
import type { StoringService } from '../../../../../deploy/provision.ts'
import type { FileFinding } from '../../../finding.ts'
import { readKeys } from '../../kept.ts'
import { verifyExport } from '../verify-export.ts'

export type Line = Record<string, any>
type Signer = ReturnType<typeof makeAuditKey>

export const salt = 'salt'
export const keys: Record<'users' | 'grants', Signer> = { users: makeAuditKey(), grants: makeAuditKey() }

export const beginning: ChainEnd = { epoch: 1, page: 0, events: 0, hash: '', transactionId: '0', position: '0' }

/** An event of the organization `own`, in a transaction of its own. */
export function row(position: number, id: string, sequence: number, type: string, payload: object = {}): AuditedRow {
  return {
    position: String(position),
    transaction_id: String(position + 100),
    aggregate_type: 'user',
    aggregate_id: id,
    sequence: String(sequence),
    type,
    payload,
    organization_id: 'own',
    creator: 'somebody',
    request_id: '',
    cause: null,
    traceparent: null,
    created_at: new Date(1_700_000_000_000 + position),
  }
}

/** Pages of a service, with their events, and what signs them. */
export interface Chain {
  service: StoringService
  pages: (Page & { rows: AuditedRow[] })[]
  checkpoints: Checkpoint[]
}

/** Three pages of four events; one of them is encrypted. A checkpoint signs the first page, another one the third. */
export function chain(service: StoringService, end: ChainEnd = beginning): Chain {
  const sealed = { userName: 'a\u2028b', profile: 1 }
  const portions = [
    [row(1, 'a', 1, 'locked', { n: 1 }), row(2, 'b', 1, 'human_added', { state: 1, $sealed: 'text' })],
    [row(3, 'a', 2, 'unlocked')],
    [row(4, 'b', 2, 'locked', sealed)],
  ]
  const pages: Chain['pages'] = []
  for (let last = end; pages.length < portions.length;) {
    const rows = portions[pages.length]!
    const page = makePage(service, last, rows, salt)
    pages.push({ ...page, rows })
    last = { ...page.header, ...page.header.last, hash: page.hash }
  }
  const checkpoints = [pages[0]!, pages[2]!].map((page, index) => checkpointOf(page, index + 1))
  return { service, pages, checkpoints }
}

/** A checkpoint of a page, not signed. */
export function checkpointOf({ header, hash: digest }: Page, number: number): Checkpoint {
  const { service, epoch, page, last, events } = header
  const reason = epoch === 1 ? '' : 'sealed'
  return { service, number, previous: '', at: `2026-01-0${number}`, epoch, reason, page, hash: digest, last, events }
}

export function pageLines({ service, pages }: Chain): Line[] {
  return pages.flatMap((page) => [
    { kind: 'page', service, header: page.headerText },
    { kind: 'entries', service, page: page.header.page, entries: page.entries.toString('base64') },
  ])
}

/** The line of a checkpoint, signed by a key. */
export function signed(checkpoint: Checkpoint, { key, secret } = keys.users): Line {
  return { kind: 'checkpoint', service: checkpoint.service, jws: signCheckpoint(checkpoint, key.kid, secret) }
}

function eventOf(service: string, page: number, stored: AuditedRow): Line {
  const { $sealed, ...payload } = stored.payload as Line
  return {
    kind: 'event',
    service,
    position: stored.position,
    aggregateType: stored.aggregate_type,
    aggregateId: stored.aggregate_id,
    sequence: stored.sequence,
    type: stored.type,
    payload: $sealed === undefined ? payload : { ...payload, userName: 'opened' },
    organizationId: stored.organization_id,
    creator: stored.creator,
    requestId: stored.request_id,
    cause: null,
    createdAt: stored.created_at.toISOString(),
    ...($sealed !== undefined && { sealed: $sealed }),
    proof: { page, key: rowKey(salt, stored.position), row: canonicalRow(stored) },
  }
}

/** The lines of an export: what proves the events, then the events. */
export function exportOf(...chains: Chain[]): Line[] {
  const events = chains.flatMap(({ service, pages }) =>
    pages.flatMap(({ header, rows }) => rows.map((one) => eventOf(service, header.page, one))),
  )
  return [
    { kind: 'export', format: 1, organization: 'own', at: '2026-01-01' },
    ...chains.flatMap((one) => [...pageLines(one), ...one.checkpoints.map((checkpoint) => signed(checkpoint))]),
    ...events,
    { kind: 'end', events: events.length, objects: 0 },
  ]
}

/** The public keys, as `/.well-known/audit-keys` answers. */
export const allKeys = () =>
  JSON.stringify({ keys: Object.entries(keys).map(([service, { key }]) => ({ ...key, service })) })

/** The lines of a true export of users. They are never changed. */
export const lines: readonly Line[] = exportOf(chain('users'))

/** What `verify` finds in an export of these lines. `trusted`: the file of keys. */
export async function found(some: readonly (Line | string)[], trusted = allKeys()): Promise<string[]> {
  const folder = await mkdtemp(join(tmpdir(), 'roster-export-'))
  try {
    const [file, keyFile] = [join(folder, 'export'), join(folder, 'keys')]
    await writeFile(file, some.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''))
    await writeFile(keyFile, trusted)
    const findings: FileFinding[] = []
    const output = { line() {}, progress() {} } as never
    await verifyExport({ output }, file, readKeys(keyFile), async (more) => void findings.push(...more))
    return findings.map(({ row: of, problem }) => `${of}: ${problem}`)
  } finally {
    await rm(folder, { recursive: true })
  }
}

export const of = (kind: string) => lines.filter((line) => line['kind'] === kind)
/** The true lines, with others in place of one. */
export const replaced = (line: Line, ...others: (Line | string)[]) =>
  lines.flatMap((one): (Line | string)[] => (one === line ? others : [one]))
/** The true lines, with other members in one. */
export const changedLine = (line: Line, other: Line) => replaced(line, { ...line, ...other })
