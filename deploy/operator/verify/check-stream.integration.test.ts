import { connect } from 'nats'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { streamName } from '#lib/events/stream'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'
import { operatorSettings } from '#test/support/operator'
import { storingServices } from '../../provision.ts'
import { readUrls } from '../settings.ts'
import { openSystem } from '../system.ts'
import { checkStream, type InStream } from './check-stream.ts'
import type { Finding } from './finding.ts'
import { Positions } from './positions.ts'

let house: AuditedHouse

beforeAll(async () => void (house = await startAuditedHouse()), 120_000)
afterAll(() => house?.stop())

test('a service whose connection ends while the stream is read hinders no other', async () => {
  const system = openSystem(readUrls(operatorSettings(house.servers)))
  const seen = Object.fromEntries(storingServices.map((service) => [service, new Positions()])) as unknown as InStream
  const found: Finding[] = []
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

test('verify reads a stream that never had a message, and names the events that it lacks', async () => {
  const { host, username, password } = new URL(house.servers.natsUrl.admin)
  const admin = await connect({ servers: host, user: username, pass: password })
  const { streams } = await admin.jetstreamManager()
  const { config } = await streams.info(streamName)
  await streams.delete(streamName)
  await streams.add(config)
  await admin.close()
  const { status, out, err } = await house.roster('verify')
  expect({ status, err }).toMatchObject({ status: 1, err: expect.not.stringContaining('bad request') })
  expect(out).toMatch(/^grants: events position=1: the stream does not have it$/m)
})
