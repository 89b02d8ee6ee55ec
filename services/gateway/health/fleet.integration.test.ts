import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Misfit, roster } from '#lib/health/release'
import { connectNats, type Nats } from '#lib/nats/connect-nats'
import { testGatewayKeys } from '#test/support/caller-keys'
import { keepingLog, silent } from '#test/support/rpc'
import { readGatewayConfig } from '../config.ts'
import { startGateway } from '../server.ts'
import { send } from '../testing/test-client.ts'
import { startTestGateway, type TestGateway } from '../testing/test-gateway.ts'

let gateway: TestGateway
beforeAll(async () => void (gateway = await startTestGateway()))
afterAll(() => gateway?.stop())

const soon = { timeout: 20_000, interval: 100 }

async function readyz() {
  const { body } = await send(gateway.url, { path: '/readyz' })
  return JSON.parse(body) as { status: string; versions: Record<string, string[]>; waiting?: object }
}
const said = (message: string) => gateway.log.filter(({ msg }) => msg === message)

/** Another replica, of users unless another service is named, which answers this. */
async function alsoRuns(info: string, { connection }: Nats = gateway.nats.users, service = 'users') {
  const replica = connection.subscribe(`$SRV.INFO.${service}`, { callback: (_, message) => void message.respond(info) })
  onTestFinished(() => replica.unsubscribe())
  await connection.flush()
  return replica
}
const info = (version: string, metadata: object) => JSON.stringify({ name: 'users', id: 'another', version, metadata })

test('two versions side by side are shown, and the log says so once, and once that it is over', async () => {
  const older = `${roster.former}.7`
  const replica = await alsoRuns(info(older, { instance: 'another', former: '0.0' }))
  await vi.waitFor(async () => expect((await readyz()).versions['users']).toEqual([older, roster.version]), soon)
  for (let n = 0; n < 5; n++) await readyz()
  expect(said('services of different versions run side by side')).toHaveLength(1)
  expect((await readyz()).status).toBe('ok')
  replica.unsubscribe()
  await vi.waitFor(async () => expect((await readyz()).versions['users']).toEqual([roster.version]), soon)
  expect(said('all services run in one version')).toHaveLength(1)
})

async function connectGateway(): Promise<Nats> {
  const nats = await connectNats(gateway.natsUrl, 'gateway', silent)
  onTestFinished(() => nats.connection.close())
  return nats
}

/** Starts one more gateway of this version, and gives what it logs. */
async function startAnother() {
  const { log, lines } = keepingLog()
  const given = { PORT: '0', HOST: '127.0.0.1', NATS_URL: gateway.natsUrl, ROSTER_CALLER_KEYS: testGatewayKeys }
  const another = await startGateway({ config: readGatewayConfig(given), nats: await connectGateway(), log })
  onTestFinished(() => another.stop())
  return { url: `http://127.0.0.1:${another.port}`, lines }
}

test('two gateways of different versions are shown, and the log says so once, and once that it is over', async () => {
  const logged = said('services of different versions run side by side').length
  const older = `${roster.former}.7`
  const other = await alsoRuns(info(older, { instance: 'another' }), await connectGateway(), 'gateway')
  await vi.waitFor(async () => expect((await readyz()).versions['gateway']).toEqual([older, roster.version]), soon)
  for (let n = 0; n < 5; n++) await readyz()
  expect(said('services of different versions run side by side')).toHaveLength(logged + 1)
  expect(said('services of different versions run side by side').at(-1)).toMatchObject({
    versions: { gateway: [older, roster.version], users: [roster.version] },
  })
  expect((await readyz()).status).toBe('ok')
  other.unsubscribe()
  await vi.waitFor(async () => expect((await readyz()).versions['gateway']).toEqual([roster.version]), soon)
})

test('two primaries, which one replica noticed, are named before what comes of them', async () => {
  const at = '2026-11-22T14:00:00.000Z'
  await alsoRuns(info(roster.version, { instance: 'one', waiting: `PostgreSQL ${at}`, ahead: 'true' }))
  await alsoRuns(info(roster.version, { instance: 'other', waiting: `NATS ${at}, SinglePrimary ${at}` }))
  const text = `"waiting":{"users":{"SinglePrimary":"${at}","`
  await vi.waitFor(async () => {
    const { body } = await send(gateway.url, { path: '/readyz' })
    expect(body).toContain('"ahead":["users"]')
    expect(body).toMatch(new RegExp(`^{"status":"\\w+",${text}`))
  }, soon)
})

test('a gateway answers about itself as the services do', async () => {
  const { connection } = await connectGateway()
  const asked = async (verb: string) =>
    JSON.parse((await connection.request(`$SRV.${verb}.gateway`, '', { timeout: 5000 })).string())
  for (const verb of ['PING', 'INFO', 'STATS'])
    expect(await asked(verb)).toMatchObject({
      name: 'gateway',
      version: roster.version,
      metadata: { former: roster.former, instance: expect.any(String) },
    })
})

describe('a gateway that starts', () => {
  const far = (service: string) => info('99.1.0', { instance: 'far', former: '99.0' }).replace('users', service)

  test.each(['users', 'grants', 'gateway'] as const)('refuses beside %s two releases away', async (name) => {
    await alsoRuns(far(name), name === 'gateway' ? await connectGateway() : gateway.nats[name], name)
    await expect(startAnother()).rejects.toThrow(new Misfit(`${name} is`, '99.1'))
  })

  // It may have been taken over, and say anything.
  test.each(['idp', 'notifier'] as const)('does not refuse for %s: it warns in its log', async (name) => {
    await alsoRuns(far(name), gateway.nats[name], name)
    const { url, lines } = await startAnother()
    await vi.waitFor(async () => {
      const { body } = await send(url, { path: '/readyz' })
      expect(JSON.parse(body).versions[name]).toEqual([roster.version, '99.1.0'])
    }, soon)
    expect(lines.join('')).toContain(`${name} runs in a version that must not work beside this one`)
  })
})

describe('a service that was taken over', () => {
  const long = 'x'.repeat(100_000)
  test.each([
    ['a strange version', info(`9.9.9-${long}`, { instance: long, former: long })],
    ['a wait for something strange', info(roster.version, { waiting: `${long} 2026-11-22T14:00:00.000Z` })],
    ['a wait since something strange', info(roster.version, { waiting: `Redis ${long}` })],
    ['more parked events than there can be', info(roster.version, { parked: '9'.repeat(1000) })],
    ['no JSON', `{"version":"<b>${long}`],
  ])('cannot fill the answer to a probe, nor the log, by %s', async (_, text) => {
    const lines = JSON.stringify(gateway.log).length
    await alsoRuns(text)
    for (let n = 0; n < 5; n++) expect(JSON.stringify(await readyz()).length).toBeLessThan(1000)
    expect(JSON.stringify(gateway.log).length - lines).toBeLessThan(5000)
  })

  test('cannot fill the log by another version at each look', async () => {
    const lines = said('services of different versions run side by side').length
    const seen = new Set<string>()
    let asked = 0
    const { connection } = gateway.nats.users
    const changing = connection.subscribe('$SRV.INFO.users', {
      callback: (_, message) => void message.respond(info(`0.2.${asked++}`, { instance: 'changing' })),
    })
    onTestFinished(() => changing.unsubscribe())
    await connection.flush()
    await vi.waitFor(async () => {
      for (const version of (await readyz()).versions['users']!) seen.add(version)
      expect(seen.size).toBeGreaterThan(10)
    }, soon)
    const logged = said('services of different versions run side by side').length - lines
    expect(logged).toBeLessThanOrEqual(4)
  })

  test('cannot fill them by many answers, and by new ones each time', async () => {
    const lines = JSON.stringify(gateway.log).length
    const logged = said('services of different versions run side by side').length
    let asked = 0
    const { connection } = gateway.nats.users
    const many = connection.subscribe('$SRV.INFO.users', {
      callback(_, message) {
        asked++
        for (let n = 0; n < 500; n++) message.respond(info(`0.${n % 2}.${n + asked}`, { instance: `i-${asked}-${n}` }))
      },
    })
    onTestFinished(() => many.unsubscribe())
    await connection.flush()
    // Once a whole second of answers is over.
    await vi.waitFor(async () => expect((await readyz()).versions['users']).toHaveLength(5), soon)
    for (let n = 0; n < 20; n++) expect(JSON.stringify(await readyz()).length).toBeLessThan(1000)
    expect(said('services of different versions run side by side').length - logged).toBeLessThanOrEqual(4)
    expect(JSON.stringify(gateway.log).length - lines).toBeLessThan(5000)
  })
})
