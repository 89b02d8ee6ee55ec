import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { createLog } from '#lib/log'
import { connectNats } from '#lib/nats/connect-nats'
import { testGatewayKeys } from '#test/support/caller-keys'
import { startServers } from '../../../deploy/local/servers.ts'
import { readGatewayConfig } from '../../../services/gateway/config.ts'
import { startGateway } from '../../../services/gateway/server.ts'
import { factsOf } from '../clients/call.ts'
import { encodings } from '../clients/encodings.ts'

const byUrl = inject('roster').house === undefined
const why = byUrl ? ' (skipped: it takes a gateway of its own)' : ''
const elsewhere = { DATABASE_URL: 'none', REDIS_URL: 'none', SMTP_URL: 'none' }

// Only a gateway and NATS, without any service.
let servers: Awaited<ReturnType<typeof startServers>>
let gateway: Awaited<ReturnType<typeof startGateway>>
let nats: Awaited<ReturnType<typeof connectNats>>
let url: string

beforeAll(async () => {
  if (byUrl) return
  const log = createLog('gateway', 'silent')
  servers = await startServers({ ephemeral: true, ports: 'random', env: elsewhere })
  nats = await connectNats(servers.natsUrl.gateway, 'gateway', log)
  const environment = { PORT: '0', NATS_KEEPER_URL: servers.natsUrl.keeper, ROSTER_CALLER_KEYS: testGatewayKeys }
  gateway = await startGateway({ config: readGatewayConfig(environment), nats, log })
  url = `http://127.0.0.1:${gateway.port}`
})
afterAll(async () => {
  await gateway?.stop()
  await nats?.connection.close()
  await servers?.stop()
})

describe.skipIf(byUrl)(`a service or the broker is away${why}`, () => {
  const verify = { userId: 'unknown', verificationCode: 'ABCDEF' }

  test.each(encodings)(
    'no service: UNAVAILABLE at once, the same Status, with Retry-After, over $encoding',
    async ({ call }) => {
      const started = performance.now()
      const answer = await call('VerifyEmail', verify, { url })
      expect(performance.now() - started).toBeLessThan(1000)
      expect(factsOf(answer)).toMatchObject({ code: 14, reason: 'SERVICE_UNAVAILABLE', retryDelay: '1s' })
      expect(answer.headers['retry-after']).toBe('1')
      expect([0, 200, 503]).toContain(answer.http)
      expect(answer.error).toEqual((await encodings[0].call('VerifyEmail', verify, { url })).error)
      const withToken = await call('AddMachineUser', { userName: 'u', name: 'n' }, { url, token: 'some-token' })
      expect(factsOf(withToken).reason).toBe('SERVICE_UNAVAILABLE')
    },
  )

  test('the gateway lives, but is not ready', async () => {
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect((await fetch(`${url}/readyz`)).status).toBe(503)
  })

  test.each(encodings)('no NATS: UNAVAILABLE at once over $encoding', async ({ call }) => {
    await servers.nats!.stop()
    await expect.poll(() => nats.connected()).toBe(false)
    const started = performance.now()
    const answer = await call('VerifyEmail', verify, { url })
    expect(performance.now() - started).toBeLessThan(1000)
    expect(factsOf(answer)).toMatchObject({ code: 14, reason: 'BROKER_UNAVAILABLE', retryDelay: '1s' })
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
  })
})
