import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type AuditedRow, canonicalRow } from '#lib/eventstore/audit/canonical-row'
import type { FileFinding } from '../../finding.ts'
import { verifyExport } from './verify-export.ts'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'roster-export-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function found(...lines: string[]): Promise<FileFinding[]> {
  const file = join(folder, 'export')
  await writeFile(file, lines.map((line) => `${line}\n`).join(''))
  const findings: FileFinding[] = []
  const output = { line() {}, progress() {} } as never
  await verifyExport(
    { output },
    file,
    () => [],
    async (more) => void findings.push(...more),
  )
  return findings
}

const first = JSON.stringify({ kind: 'export', format: 1, organization: 'own', at: '' })
const end = (events: number) => JSON.stringify({ kind: 'end', events, objects: 0 })

const row: AuditedRow = {
  position: '1',
  transaction_id: '1',
  aggregate_type: 'user',
  aggregate_id: 'a',
  sequence: '1',
  type: 'locked',
  payload: {},
  organization_id: 'own',
  creator: '',
  request_id: '',
  created_at: new Date(0),
}

// Nobody needs a key for that: it has a proof, which proves nothing.
function event(payload: string): string {
  const line = {
    kind: 'event',
    service: 'grants',
    position: '1',
    aggregateType: 'user',
    aggregateId: 'a',
    sequence: '1',
    type: 'locked',
    payload: {},
    organizationId: 'own',
    creator: '',
    requestId: '',
    createdAt: row.created_at.toISOString(),
    proof: { page: 1, key: '0'.repeat(64), row: canonicalRow(row) },
  }
  return JSON.stringify(line).replace('"payload":{}', `"payload":{"a":${payload}}`)
}

const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)

test.each([99, 3000, 3500, 4000, 5000, 1_000_000])(
  'a payload that is nested %s deep is a finding of its line, and the others are judged',
  async (depth) => {
    expect(await found(first, event(nested(depth)), event('"[{[{"'), end(1))).toEqual([
      { row: 'line 2', problem: 'no export has such a line' },
      { service: 'grants', row: 'event grants-1', problem: 'its page does not have it' },
    ])
  },
)

test('brackets within a text are not nested', async () => {
  expect(await found(first, event(JSON.stringify(`"\\${'['.repeat(5000)}`)), end(1))).toEqual([
    { service: 'grants', row: 'event grants-1', problem: 'its page does not have it' },
  ])
})

test('a line that is longer than any is a finding of it, and the others are judged', async () => {
  expect(await found(first, event(JSON.stringify('x'.repeat(2 ** 25))), event('1'), end(1))).toEqual([
    { row: 'line 2', problem: 'no export has such a long line' },
    { service: 'grants', row: 'event grants-1', problem: 'its page does not have it' },
  ])
})

test('a fault of the file accuses no service', async () => {
  expect(await found(first, 'x')).toEqual([
    { row: 'line 2', problem: 'no export has such a line' },
    { row: 'the export', problem: 'it is not whole: lines are missing' },
  ])
})
