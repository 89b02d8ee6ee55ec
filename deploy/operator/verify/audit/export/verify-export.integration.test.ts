import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventColumns } from '#lib/eventstore/event-page'
import type { StoredEvent } from '#lib/events/stored-event'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'
import { runOperator } from '#test/support/operator'
import { openProver } from '../../../export/prove-events.ts'

let house: AuditedHouse
let lines: any[]

beforeAll(async () => {
  house = await startAuditedHouse()
  const { status, json } = await house.roster('export', 'default', '--proof')
  expect(status).toBe(0)
  lines = json()
}, 120_000)
afterAll(() => house?.stop())

// Without a server: the settings name none.
async function verifyExport(some: any[]) {
  const file = join(house.folder, 'export')
  await writeFile(file, some.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const ran = await runOperator(['verify', '--audit', '--json', '--export', file, '--keys', house.kept], {})
  await rm(file)
  return { ...ran, found: ran.status === 2 ? [] : ran.json().map(({ row, problem }) => ({ row, problem })) }
}
const copy = () => structuredClone(lines)
const events = (some: any[]) => some.filter(({ kind }) => kind === 'event')
const named = ({ service, position }: any) => `event ${service}-${position}`

test('an export is verified by the public keys alone', async () => {
  expect(events(lines).length).toBeGreaterThan(20)
  expect(await verifyExport(lines)).toMatchObject({ status: 0, out: '' })
})

test('an export holds nothing that tells of the events of others', () => {
  const own = new Set(events(lines).map(({ service, proof }) => `${service} ${proof.page}`))
  expect(own.size).toBeGreaterThan(0)
  expect(
    lines.filter(({ kind }) => kind === 'entries').every(({ service, page }) => own.has(`${service} ${page}`)),
  ).toBe(true)
  expect(lines.every((line) => line.salt === undefined && line.header?.includes('salt') !== true)).toBe(true)
})

test.each([
  ['payload', { more: 1 }],
  ['creator', 'nobody'],
  ['createdAt', '2020-01-01T00:00:00.000Z'],
  ['aggregateId', 'other'],
])('an export with another %s of an event is found', async (name, value) => {
  const some = copy()
  const event = events(some).findLast(({ service }) => service === 'users')
  event[name] = name === 'payload' ? { ...event[name], ...(value as object) } : value
  const { status, found } = await verifyExport(some)
  expect(status).toBe(1)
  expect(found).toContainEqual({ row: named(event), problem: 'it does not say what is proven' })
})

test('an export with a missing event of an object, or without its end, is found', async () => {
  const some = copy()
  const { aggregateId: id } = events(some).find(({ sequence }) => sequence === '3')
  const gone = some.findIndex(({ aggregateId, sequence }) => aggregateId === id && sequence === '2')
  const [event] = some.splice(gone, 1)
  const { found } = await verifyExport(some)
  expect(found).toContainEqual({
    row: expect.stringMatching(/^event /),
    problem: `events before it are missing: ${event.aggregateType} ${event.aggregateId}, sequence 2`,
  })
  expect(found).toContainEqual({ row: 'the export', problem: 'it is not whole: lines are missing' })
  expect((await verifyExport(lines.slice(0, -1))).status).toBe(1)
})

test('an export that is made in many portions tells each page, its entries and each checkpoint once', async () => {
  const { admin, changed } = house
  await changed(
    // One checkpoint signs all pages, so the first portion has the headers of all.
    () => admin`delete from audit_checkpoints where page < (select page from audit_chain)`,
    async () => {
      const prover = await openProver(admin as never, 'users')
      const stored = await admin<StoredEvent[]>`
        select ${eventColumns(admin as never)} from events where organization_id = 'default'
        order by events.transaction_id, events.position
      `
      const some = lines.filter(({ kind, service }) => kind === 'export' || (service === 'users' && kind === 'object'))
      for (const row of stored) {
        for await (const line of prover!.lines([row])) some.push(line)
        const told = events(lines).find(({ service, position }) => service === 'users' && position === row.position)
        some.push({ ...told, proof: prover!.proofOf(row) })
      }
      const objects = some.filter(({ kind }) => kind === 'object').length
      some.push({ kind: 'end', events: stored.length, objects })
      expect(new Set(events(some).map(({ proof }) => proof.page)).size).toBeGreaterThan(1)
      expect(await verifyExport(JSON.parse(JSON.stringify(some)))).toMatchObject({ status: 0, out: '' })
    },
  )
})
