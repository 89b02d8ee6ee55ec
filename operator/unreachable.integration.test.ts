import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { runOperator } from '#test/support/operator'

test('where no host of PostgreSQL and NATS can be reached, the command ends within seconds and says so', async () => {
  const silent = createServer(() => {})
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => void silent.close())
  const hosts = `127.0.0.1:1,127.0.0.1:${(silent.address() as AddressInfo).port}`
  const began = Date.now()
  const settings = {
    ROSTER_OPERATOR_DATABASE_URL: `postgres://roster_operator:x@${hosts}/roster?target_session_attrs=read-write`,
    ROSTER_OPERATOR_NATS_URL: `nats://operator:x@${hosts}`,
  }
  const { status, out } = await runOperator(['status'], settings)
  expect(Date.now() - began).toBeLessThan(20_000)
  expect(status).toBe(1)
  expect(out).toMatch(/^! users: cannot be looked at: .*CONNECT/m)
  expect(out).toMatch(/^! services: cannot be looked at: NATS at 127.0.0.1:1, 127.0.0.1:\d+ does not let/m)
}, 60_000)
