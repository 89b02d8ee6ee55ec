import postgres from 'postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { migrate } from '#lib/schema/migrate'
import { openDatabase } from '#lib/database/database'
import { silent } from '#test/support/rpc'
import { startServers, type Servers } from './local/servers.ts'
import { models } from '../operator/models.ts'
import { provision, storingServices } from './provision.ts'

const elsewhere = { NATS_URL: 'nats://none', REDIS_URL: 'redis://none', SMTP_URL: 'smtp://none' }
const passwords = { users: 'it\'s "users" %/@', grants: 'grants', idp: 'idp', notifier: 'notifier' }
let servers: Servers

beforeAll(async () => {
  servers = await startServers({ ephemeral: true, ports: 'random', env: elsewhere })
}, 60_000)
afterAll(() => servers.stop())

test(
  'each role works in a schema of its own and can neither read nor make anything elsewhere',
  { timeout: 30_000 },
  async () => {
    const urls = await provision(servers.databaseUrl, passwords, { dedicated: true })
    for (const service of storingServices) {
      const sql = open(urls[service])
      await sql`create table secret as select 42 as value`
      const [row] = await sql`select schemaname from pg_tables where tablename = 'secret' and tableowner = current_user`
      expect(row?.['schemaname']).toBe(`roster_${service}`)
      // Migrations name operator classes of the extensions that provision made.
      await sql`create table texts (owner text, name text)`
      await sql`create index on texts using gin (owner, name gin_trgm_ops)`
    }
    const users = open(urls.users)
    const denied = { code: '42501' }
    await expect(users`select * from roster_grants.secret`).rejects.toMatchObject(denied)
    await expect(users`create table roster_idp.mine (x int)`).rejects.toMatchObject(denied)
    await expect(users`create table roster_extensions.mine (x int)`).rejects.toMatchObject(denied)
    await expect(users`create table public.mine (x int)`).rejects.toMatchObject(denied)
    await expect(users`create schema mine`).rejects.toMatchObject(denied)
    await expect(users`create temp table mine (x int)`).rejects.toMatchObject(denied)
    await expect(users`set role roster_grants`).rejects.toMatchObject(denied)
    await expect(users`create role mine`).rejects.toMatchObject(denied)
    await expect(open(urls.users.replace(/roster$/, 'postgres'))`select 1`).rejects.toMatchObject(denied)
  },
)

test(
  'doing it again, and by several at once over several databases, changes nothing and fails nowhere',
  { timeout: 30_000 },
  async () => {
    const database = (name: string) => servers.databaseUrl.replace(/roster$/, name)
    const names = ['a', 'b', 'a', 'b', "it's", 'a']
    const all = await Promise.all(names.map((name) => provision(database(name), passwords)))
    const first = open(all[0]!.users)
    await first`create table kept as select 1 as value`
    await provision(database('a'), passwords)
    expect([...(await first`select value from kept`)]).toEqual([{ value: 1 }])
    expect(all[0]).toEqual(all[2])
    for (const urls of all)
      expect([...(await open(urls.grants)`select current_schema() as name`)]).toEqual([{ name: 'roster_grants' }])
  },
)

test(
  'a database of an earlier version gets the extensions, wherever they are already',
  { timeout: 30_000 },
  async () => {
    const url = servers.databaseUrl.replace(/roster$/, 'earlier')
    await open(servers.databaseUrl.replace(/roster$/, 'postgres'))`create database earlier`
    await open(url)`create extension pg_trgm with schema public`
    const { users } = await provision(url, passwords)
    await open(users)`create table texts (owner text, name text)`
    await open(users)`create index on texts using gin (owner, name gin_trgm_ops)`
    expect([...(await open(users)`select current_schema() as name`)]).toEqual([{ name: 'roster_users' }])
  },
)

test('an administrator who is no superuser can do it too', { timeout: 30_000 }, async () => {
  const fresh = await startServers({ ephemeral: true, ports: 'random', env: elsewhere })
  onTestFinished(() => fresh.stop())
  const root = open(fresh.databaseUrl.replace(/roster$/, 'postgres'))
  await root`create role manager login createdb createrole password 'manager'`
  const url = new URL(fresh.databaseUrl)
  Object.assign(url, { username: 'manager', password: 'manager' })
  const all = { ...passwords, operator: 'operator' }
  const urls = await provision(url.href, all)
  await provision(url.href, all)
  await open(urls.operator!.replace('roster_operator', 'roster_operator_idp'))`create temp table mine (x int)`
  expect([...(await open(urls.idp)`select current_schema() as name`)]).toEqual([{ name: 'roster_idp' }])
  // Then each service makes its tables, and lets the operator's command read them.
  for (const service of storingServices) {
    const sql = openDatabase(urls[service], service, silent)
    onTestFinished(() => sql.end({ timeout: 1 }))
    await migrate(sql, new URL(`../services/${service}/migrations/`, import.meta.url), silent, models[service])
    const operator = open(urls.operator!.replace('roster_operator', `roster_operator_${service}`))
    expect(await operator`select from ${operator(`roster_${service}`)}.events`).toHaveLength(0)
  }
})

test('one who may make roles alone provisions a database that is there and is his', { timeout: 30_000 }, async () => {
  const fresh = await startServers({ ephemeral: true, ports: 'random', env: elsewhere })
  onTestFinished(() => fresh.stop())
  const root = open(fresh.databaseUrl.replace(/roster$/, 'postgres'))
  await root`create role manager login createrole password 'manager'`
  await root`create database managed owner manager`
  const url = new URL(fresh.databaseUrl)
  Object.assign(url, { username: 'manager', password: 'manager', pathname: '/managed' })
  const { users } = await provision(url.href, passwords)
  expect([...(await open(users)`select current_schema() as name`)]).toEqual([{ name: 'roster_users' }])
})

test('while somebody holds its lock, it says once who, and goes on after that', { timeout: 30_000 }, async () => {
  await provision(servers.databaseUrl, passwords)
  const holder = open(servers.databaseUrl)
  await holder`set application_name = 'abandoned'`
  const [held] = await holder<{ pid: number; role: string }[]>`
    select pg_backend_pid() as pid, current_user::text as role, pg_advisory_lock(hashtext('roster provision'))
  `
  const said: string[] = []
  const done = provision(servers.databaseUrl, passwords, { say: (text) => void said.push(text) })
  await expect.poll(() => said, { timeout: 15_000 }).toHaveLength(1)
  // As long again, in which it would say so once more.
  await new Promise((resolve) => setTimeout(resolve, 4000))
  expect(said).toEqual([`provision waits for a lock that ${held!.role} (process ${held!.pid}, abandoned) holds`])
  await holder`select pg_advisory_unlock_all()`
  expect(Object.keys(await done)).toEqual([...storingServices])
})

function open(url: string): postgres.Sql {
  const sql = postgres(url, { max: 1, onnotice: () => {}, connect_timeout: 5 })
  onTestFinished(() => sql.end({ timeout: 1 }))
  return sql
}
