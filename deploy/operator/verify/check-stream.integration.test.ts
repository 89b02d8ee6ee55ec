import { connect } from 'nats'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { streamName } from '#lib/events/stream'
import { type AuditedHouse, startAuditedHouse } from '#test/support/audited-house'

let house: AuditedHouse

beforeAll(async () => void (house = await startAuditedHouse()), 120_000)
afterAll(() => house?.stop())

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
