import { createSecretKey, randomBytes } from 'node:crypto'
import { headers } from 'nats'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createLog } from '#lib/log'
import { connectNats, type Nats } from '#lib/nats'
import { signatureOf } from '#lib/rpc/caller-keys'
import { anonymous, type Caller } from '#lib/rpc/caller'
import { methods } from '#lib/rpc/methods'
import { type House, houseKeys, startHouse } from './house.ts'
import { startTestServers } from './infra.ts'

const services = ['users', 'grants', 'idp', 'notifier'] as const
type Name = (typeof services)[number]

let servers: Awaited<ReturnType<typeof startTestServers>>
let house: House
// An attacker with the gateway's connection to the services, but without its keys.
let forger: Nats

beforeAll(async () => {
  servers = await startTestServers()
  house = await startHouse(servers.servers.serviceDatabaseUrls, {}, servers)
  forger = await connectNats(servers.servers.natsUrl.gateway, 'gateway', createLog('forger', 'silent'))
}, 120_000)
afterAll(async () => {
  await forger?.connection.close()
  await house?.stop()
  await servers?.stop()
})

const administrator: Caller = { ...anonymous, userId: 'root', organizationId: 'default', instanceRoles: ['IAM_OWNER'] }
const keyOf = (service: Name) => houseKeys[service]['ROSTER_CALLER_KEY']!

function signed(key: string, service: string, lives = 30_000): string {
  const until = String(Date.now() + lives)
  const text = JSON.stringify(administrator)
  const secret = createSecretKey(Buffer.from(key, 'base64'))
  return `${until}.${signatureOf(secret, service, until, text).toString('base64url')}.${text}`
}

async function answerTo(subject: string, caller: string): Promise<string> {
  const sent = headers()
  sent.set('roster-caller', caller)
  sent.set('roster-organization', 'default')
  const answer = await forger.connection.request(subject, new Uint8Array(), { headers: sent, timeout: 10_000 })
  return answer.headers?.get('roster-error') || 'done'
}

const sisterOf = (service: Name) => services[(services.indexOf(service) + 1) % services.length]!

describe.each(services)('%s', (service) => {
  const offered = [...methods.values()].filter(
    ({ subject, access }) => subject.startsWith(`roster.${service}.`) && access.rule !== 'internal',
  )
  const all = (caller: string) => Promise.all(offered.map(({ subject }) => answerTo(subject, caller)))
  const refused = () => offered.map(() => 'CALLER_NOT_SIGNED')

  test.each([
    ['that nobody signed', () => JSON.stringify(administrator)],
    ['that somebody else signed', () => signed(randomBytes(32).toString('base64'), service)],
    ['that was signed for another service', () => signed(keyOf(sisterOf(service)), sisterOf(service))],
    ['that another service signed', () => signed(keyOf(sisterOf(service)), service)],
    ['whose time is over', () => signed(keyOf(service), service, -1)],
    ['that was signed for longer than a minute', () => signed(keyOf(service), service, 100_000)],
  ])('refuses a caller %s, at each of its methods', async (_, forge) => {
    expect(offered.length).toBeGreaterThan(0)
    expect(await all(forge())).toEqual(refused())
  })

  test('accepts the caller that was signed for it, and this helps nobody at another service', async () => {
    const taken = signed(keyOf(service), service)
    expect(await answerTo(offered[0]!.subject, taken)).not.toBe('CALLER_NOT_SIGNED')
    for (const other of services.filter((name) => name !== service)) {
      const { subject } = [...methods.values()].find((method) => method.subject.startsWith(`roster.${other}.`) && method.access.rule !== 'internal')! // prettier-ignore
      expect(await answerTo(subject, taken)).toBe('CALLER_NOT_SIGNED')
    }
  })
})
