import { connect } from 'nats'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { streamName } from '#lib/events/stream'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'
import { operatorSettings } from '#test/support/operator'
import { storingServices } from '../../provision.ts'
import { readUrls } from '../settings.ts'
import { openSystem } from '../system.ts'
import { checkStream, type InStream } from './check-stream.ts'
import type { FileFinding } from './finding.ts'
import { Positions } from './positions.ts'

let house: AuditedHouse

beforeAll(async () => void (house = await startAuditedHouse()), 120_000)
afterAll(() => house?.stop())

function natsOfAdmin() {
  const { host, username, password } = new URL(house.servers.natsUrl.admin)
  return connect({ servers: host, user: username, pass: password })
}

test('a service whose connection ends while the stream is read hinders no other', async () => {
  const system = openSystem(readUrls(operatorSettings(house.servers)))
  const seen = Object.fromEntries(storingServices.map((service) => [service, new Positions()])) as unknown as InStream
  const found: FileFinding[] = []
  try {
    await system.sql('users').end()
    for await (const page of checkStream(system, seen, new Set(storingServices))) found.push(...page.found)
  } finally {
    await system.close()
  }
  expect(found).toEqual([{ service: 'users', row: 'events', problem: 'the connection ended before they were read' }])
  const early = Array.from({ length: 50 }, (_, index) => index + 1)
  expect(early.some((position) => seen.grants.has(position))).toBe(true)
})

test('where the connection to NATS is cut, it is told from which message on nothing was compared', async () => {
  const admin = await natsOfAdmin()
  for (let number = 0; number < 250; number++) await admin.jetstream().publish('roster.events.nobody.of.any.kind', '')
  await admin.close()
  const system = openSystem(readUrls(operatorSettings(house.servers)))
  const seen = Object.fromEntries(storingServices.map((service) => [service, new Positions()])) as unknown as InStream
  try {
    const pages = checkStream(system, seen, new Set(storingServices))
    const { value: first } = await pages.next()
    expect(first).toMatchObject({ found: [], isWhole: true })
    const nats = await system.nats()
    await nats.close()
    const rest = []
    for await (const page of pages) rest.push(page)
    expect(rest).toEqual([
      {
        found: [
          {
            row: `stream ${streamName} seq=${first!.looked + 1}`,
            problem: 'the connection to NATS was cut, so no later message was compared',
          },
        ],
        looked: first!.looked,
        of: first!.of,
        isWhole: false,
      },
    ])
  } finally {
    await system.close()
  }
})

test('verify reads a stream that never had a message, and names the events that it lacks', async () => {
  const admin = await natsOfAdmin()
  const { streams } = await admin.jetstreamManager()
  const { config } = await streams.info(streamName)
  await streams.delete(streamName)
  await streams.add(config)
  await admin.close()
  const { status, out, err } = await house.roster('verify')
  expect({ status, err }).toMatchObject({ status: 1, err: expect.not.stringContaining('bad request') })
  expect(out).toMatch(/^grants: events position=1: the stream does not have it$/m)
})
