import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'nats'
import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { daemon } from '../../deploy/local/daemon.ts'
import { openHome, projectRoot } from '../../deploy/local/home.ts'
import { freePort } from '../../deploy/local/ports.ts'
import { natsUsers, passwordVariable } from '../../deploy/local/servers/nats-users.ts'
import { natsAnswers } from '../../deploy/local/servers/nats-server.ts'
import { onPath } from '../../deploy/local/servers/program.ts'
import { type ServiceName, serviceNames } from '../../deploy/local/service-environment.ts'
import { provision, storingServices } from '../../deploy/provision.ts'
import { acknowledged, startLoad } from '../faults/load.ts'
import { settle } from '../faults/settle.ts'
import { type Fleet, startFleet } from '../upgrade/fleet.ts'

const page = await readFile(join(projectRoot, 'docs/operations.md'), 'utf8')
const second = 'second-password'
/** The URL with the second user of a service. */
const asSecond = (url: string) => url.replace(/\/\/(\w+):[^@]+@/, `//$1_2:${second}@`)
/** Enough for the code of a refusal, without a second try. */
const once = { max: 1, onnotice: () => {}, connect_timeout: 5 }

/** What an operator does before and after the processes. */
interface Steps {
  admit(): Promise<unknown>
  revoke(): Promise<unknown>
}

/** Replaces each process of these services by one that logs in as the second user. Gives what the load saw. */
async function rotate(fleet: Fleet, names: readonly ServiceName[], { admit, revoke }: Steps) {
  const { url, adminToken: token } = fleet
  const writers = await Promise.all([0, 1, 2, 3].map((writer) => settle(fleet, writer)))
  const load = startLoad({ urls: [url], token, seed: 1, round: 1, writers })
  const more = () => acknowledged(load, load.acknowledged + 25)
  await more()
  await admit()
  await more()
  for (const name of names) {
    await fleet.add(name, 'today')
    await more()
    await fleet.remove(name, 'former')
    await more()
  }
  await revoke()
  await more()
  await load.stop()
  const { wrong, errors, unanswered } = load
  return { wrong, errors: [...errors], unanswered }
}

const nothing = { wrong: [], errors: [], unanswered: 0 }

test('passwords of PostgreSQL change under load as docs/operations.md says, without a refused request', async () => {
  const logIn = (url: string) => (url.startsWith('postgres:') ? asSecond(url) : url)
  const fleet = await startFleet(projectRoot, { logIn })
  onTestFinished(() => fleet.stop())
  const { databaseUrl } = fleet.servers
  const admin = postgres(databaseUrl, once)
  onTestFinished(() => admin.end())
  const [, statements = ''] = /^## Changing passwords\n[^]*?```sql\n([^]*?)```/m.exec(page)!
  const passwords = Object.fromEntries(storingServices.map((service) => [service, 'another-password']))
  const seen = await rotate(fleet, storingServices, {
    async admit() {
      for (const service of storingServices) {
        await admin.unsafe(statements.replaceAll('roster_users', `roster_${service}`))
        await admin.unsafe(`alter role roster_${service}_2 password '${second}'`)
      }
    },
    revoke: () => provision(databaseUrl, passwords as never),
  })
  expect(seen).toEqual(nothing)

  const old = new URL(databaseUrl)
  Object.assign(old, { username: 'roster_users', password: 'users-password' })
  const refused = postgres(old.href, once)
  onTestFinished(() => refused.end())
  await expect(refused`select 1`).rejects.toMatchObject({ code: '28P01' })
  const who = await admin`select distinct usename::text from pg_stat_activity where application_name like 'roster-%'`
  expect(who.map(({ usename }) => usename as string).toSorted()).toEqual(
    storingServices.map((service) => `roster_${service}_2`).toSorted(),
  )
}, 300_000)

const version = /v([\d.]+)/.exec(spawnSync('nats-server', ['--version'], { encoding: 'utf8' }).stdout ?? '')?.[1] ?? '0'
const loses =
  version.localeCompare('2.9.17', 'en', { numeric: true }) < 0
    ? ` (skipped: nats-server ${version} may lose answers when it reloads)`
    : ''

test.skipIf(loses)(
  `passwords of NATS change under load as docs/operations.md says${loses}`,
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'roster-rotation-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const natsConfig = join(folder, 'nats.conf')
    const given = await readFile(join(projectRoot, 'deploy/nats/nats.conf'), 'utf8')
    const before = given.replace(
      'jetstream: enabled',
      `jetstream { store_dir: ${JSON.stringify(join(folder, 'nats'))} }`,
    )
    await writeFile(natsConfig, before)
    const port = await freePort(0)
    const passwords = Object.fromEntries(natsUsers.map((user) => [passwordVariable(user), `${user}Password`]))
    // Not `startNats`: nats-server 2.9 reloads nothing where its store comes from the command line.
    const args = ['-c', natsConfig, '-a', '127.0.0.1', '-p', String(port)]
    const program = { command: onPath('nats-server')!, args, env: { ...process.env, ...passwords } }
    const ready = () => natsAnswers(port)
    const nats = daemon(openHome(folder), { name: 'nats', kind: 'server', ...program, stopSignal: 'SIGTERM', ready })
    await nats.start()
    onTestFinished(() => nats.stop())
    const logIn = (url: string) => (url.startsWith('nats:') ? asSecond(url) : url)
    const fleet = await startFleet(projectRoot, { logIn, env: { ...passwords, NATS_URL: `nats://127.0.0.1:${port}` } })
    onTestFinished(() => fleet.stop())
    const { natsUrl } = fleet.servers
    const [, documented = ''] = /^## Changing passwords\n[^]*?```conf\n([^]*?)```/m.exec(page)!
    const [, first, other] = documented.split('\n').map((line) => line.trim())
    const users = [...serviceNames, 'keeper']
    const change = async (lines: (user: string) => string[]) => {
      let text = before
      for (const user of users) text = text.replace(asOf(first!, user), lines(user).join('\n'))
      await writeFile(natsConfig, text)
      await nats.kill('SIGHUP')
    }
    const asOf = (line: string, user: string) =>
      line.replaceAll('users', user).replaceAll('USERS', user.toUpperCase()).replace('…', second)
    expect(users.filter((user) => !before.includes(asOf(first!, user)))).toEqual([])

    const open = (url: string) => {
      const { host, username, password } = new URL(url)
      return connect({ servers: host, user: username, pass: password, reconnect: false })
    }
    const seen = await rotate(fleet, serviceNames, {
      async admit() {
        await change((user) => [asOf(first!, user), asOf(other!, user)])
        await expect.poll(async () => (await open(asSecond(natsUrl.users))).close()).toBeUndefined()
      },
      revoke: () => change((user) => [asOf(other!, user)]),
    })
    // A client may lose its connection to a gateway that ends: see docs/operations.md.
    expect({ ...seen, unanswered: 0 }).toEqual(nothing)
    await expect(open(natsUrl.users)).rejects.toThrow('Authorization Violation')
  },
  300_000,
)
