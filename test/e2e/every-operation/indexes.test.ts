import type { JsonObject } from '@bufbuild/protobuf'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { addFamilies, publicUrlOf, redemption, refresh, send, silent, takeCode } from '../../../bench/load/people.ts'
import { freePort } from '../../../deploy/local/ports.ts'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { contract, type Operation } from '../../examples/contract.ts'
import { addEveryObject, type EveryObject } from '../../examples/every-object.ts'
import { ok, profile, unique, uniqueEmail } from '../../examples/people.ts'
import { startHouse } from '../../house.ts'
import { startTestServers } from '../../infra.ts'
import { openBrowserAt } from '../../support/browsers/browser.ts'
import { startTestReceiver, type TestReceiver } from '../../support/receiver.ts'
import { factsOf } from '../clients/call.ts'
import { callGrpc } from '../clients/grpc.ts'
import { requestsOf } from '../clients/requests.ts'
import { fillTables, rowsOfEach } from './fill-tables.ts'
import { exampleBodies } from '../../../services/gateway/openapi/example-bodies.ts'

const schemas = ['users', 'grants', 'idp', 'notifier'].map((service) => `roster_${service}`)

// One row for each service, key or migration, however large a Roster is.
const smallByNature = [
  'roster_grants.audit_chain',
  'roster_grants.audit_keys',
  'roster_grants.followers',
  'roster_grants.histories',
  'roster_grants.migrations',
  'roster_grants.published',
  'roster_idp.audit_chain',
  'roster_idp.audit_keys',
  'roster_idp.followers',
  'roster_idp.histories',
  'roster_idp.migrations',
  'roster_idp.published',
  'roster_notifier.audit_chain',
  'roster_notifier.audit_keys',
  'roster_notifier.cursors',
  'roster_notifier.followers',
  'roster_notifier.histories',
  'roster_notifier.migrations',
  'roster_notifier.published',
  'roster_users.audit_chain',
  'roster_users.audit_keys',
  'roster_users.code_salt',
  'roster_users.first_key_kinds',
  'roster_users.followers',
  'roster_users.found_users_filled',
  'roster_users.histories',
  'roster_users.id_token_keys',
  'roster_users.migrations',
  'roster_users.published',
  'roster_users.sealing',
  'roster_users.signing_keys',
]
// A page of the event feed looks at 5,000 rows at most, on purpose: rows that a filter passes over are read all the
// same.
const readsByWindow = new Set(['events'])
// Pruning and the removal of an organization go by them, and read what they remove.
const ofRemovals = new Set(['turns_by_end', 'found_users_by_id', 'idps_by_id'])
// An event has as many deliveries as webhooks that want it. Only here thousands of copies share one.
const sharedByCopies = new Set(['deliveries_by_event'])

let receiver: TestReceiver
let servers: Awaited<ReturnType<typeof startTestServers>>
let house: Awaited<ReturnType<typeof startHouse>>
let sql: postgres.Sql
let world: EveryObject

beforeAll(async () => {
  receiver = await startTestReceiver()
  servers = await startTestServers()
  const PORT = String(await freePort(0))
  house = await startHouse(
    servers.servers.serviceDatabaseUrls,
    { WEBHOOK_ALLOW_PRIVATE: '127.0.0.1', PORT, PUBLIC_URL: publicUrlOf(`http://127.0.0.1:${PORT}`) },
    { servers: servers.servers },
  )
  sql = postgres(servers.servers.databaseUrl, { max: 1, onnotice: () => {} })
  // `fillTables` multiplies the earlier ones.
  await signInByCode()
  for (let n = 0; n < 4; n++)
    world = await addEveryObject(callGrpc, { url: house.url, token: house.adminToken }, receiver.url)
  await signInSomebody()
  await untilCalm()
  const { deliveries } = ok(await callGrpc('SearchDeliveries', { kind: 'DELIVERY_KIND_WEBHOOK' }, world.callers[0]))
  Object.assign(world.values, { deliveryId: deliveries[0].id, eventId: deliveries[0].eventId })
  const buckets = await sql<{ key: string }[]>`select encode(key, 'hex') as key from roster_users.turns`
  await fillTables(sql, schemas)
  // Of full buckets, once a minute all are pruned: that reads the whole table, on purpose.
  await sql`
    update roster_users.turns set paid_until = paid_until + interval '1 day'
    where encode(key, 'hex') <> all(${buckets.map(({ key }) => key)}::text[])
  `
  await sql`vacuum (analyze) roster_users.turns`
  await addBareNames()
  await fillChains()
  await addAggregates('roster_grants', 'organization', 'organizations')
  await addAggregates('roster_idp', 'idp', 'idps')
  await untilCounted()
}, 300_000)

afterAll(async () => {
  await sql?.end()
  await house?.stop()
  await servers?.stop()
  await receiver?.stop()
})

// Copies have the names of their originals, which cannot be first twice, and few addresses are proved.
async function addBareNames(): Promise<void> {
  await sql`
    insert into roster_users.unique_keys
    select 'user_name', 'many', 'H' || md5(n::text), 'many' from generate_series(1, ${rowsOfEach}) n
  `
  await sql`
    insert into roster_users.first_keys (kind, key, scope)
    select kind, key, scope from roster_users.unique_keys where scope = 'many'
  `
  await sql`
    insert into roster_users.login_addresses (user_id, address, organization_id, proved, since)
    select 'many-' || n, md5(n::text), 'many', true, n from generate_series(1, ${rowsOfEach}) n
  `
  await sql`vacuum (analyze) roster_users.unique_keys, roster_users.first_keys, roster_users.login_addresses`
}

test('the removal of an organization looks at each of its identity providers once', async () => {
  const { organizationId } = ok(
    await callGrpc('AddOrganization', { name: 'Many providers' }, { url: house.url, token: house.adminToken }),
  )
  // Without an aggregate, a provider is looked at and left.
  await sql`
    insert into roster_idp.idps
    select 'many-' || n, ${organizationId}, 'many ' || n, 'many ' || n, 'jwt', false, now()
    from generate_series(1, ${rowsOfEach / 20}) n
  `
  await sql`vacuum (analyze) roster_idp.idps`
  await untilCounted()
  const before = await reads()
  ok(await callGrpc('RemoveOrganization', { orgId: organizationId }, { url: house.url, token: house.adminToken }))
  const hasFollowed = async () => {
    const [row] = await sql<[{ done: boolean }]>`
      select (f.transaction_id, f.position) >= (e.transaction_id, e.position) as done
      from roster_idp.followers f, roster_grants.events e
      where f.name = 'organization-removal' and e.type = 'removed' and e.aggregate_id = ${organizationId}
    `
    expect(row.done).toBe(true)
  }
  await vi.waitFor(hasFollowed, { timeout: 50_000, interval: 200 })
  expect(await readSince(before)).toEqual([])
})

// Its lists must fit its settings, which no text does by chance.
const wholeOf = (operation: Operation): JsonObject[] =>
  operation === 'AddCustomLoginPolicy' ? [exampleBodies[operation] as JsonObject] : []

test(`no operation reads a table of ${rowsOfEach} rows from end to end`, { timeout: 240_000 }, async () => {
  const { large, small } = await sizes()
  expect(small).toEqual(smallByNature)
  const before = await reads()
  const operations = inOrder(Object.keys(contract) as Operation[])
  const reached = new Set<Operation>()
  for (const operation of operations)
    // A total counts up to 10,000 rows, on purpose: lib/search tests that.
    for (const { withTotal: _, ...request } of [...requestsOf(operation, world.values), ...wholeOf(operation)])
      for (const caller of world.callers) {
        const answer = await callGrpc(operation, request, caller)
        const { reason } = factsOf(answer)
        expect(reason, `${operation} ${JSON.stringify(request)}`).not.toBe('INTERNAL')
        if (reason !== 'VALIDATION_FAILED') reached.add(operation)
        const cursor: unknown = answer.ok?.nextCursor || answer.ok?.cursor
        if (typeof cursor === 'string') await callGrpc(operation, { ...request, cursor }, caller)
      }
  // A new field that no text fits by chance has its text in test/examples/every-object.ts.
  expect(operations.filter((operation) => !reached.has(operation))).toEqual([])
  expect((await readSince(before)).filter((found) => large.has(found.table))).toEqual([])
})

test('whoever signs in, again without a page, signs out or takes a new token reads no table from end to end', async () => {
  const { large } = await sizes()
  const before = await reads()
  const { url, userId, families } = await signInSomebody()
  const [family] = families
  await send(url, refresh(family!, 'openid'))
  // With more than ten, the oldest ends.
  for (let n = 0; n < 11; n++) {
    takeCode(family!, await send(url, silent(family!)))
    await send(url, redemption(family!))
  }
  const browser = openBrowserAt(url, family!.cookie)
  for (const page of ['/ui/account', '/oidc/v1/end_session']) {
    const { status, body } = await browser.visit(page)
    expect(status, body).toBe(200)
  }
  ok(await callGrpc('DeleteUserSessions', { userId }, { url: house.url, token: house.adminToken }))
  await signInByCode()
  expect((await readSince(before)).filter((found) => large.has(found.table))).toEqual([])
})

/** Signs a new person in by a mailed code, after a wrong one. A further one is left. */
async function signInByCode(): Promise<void> {
  const admin = { url: house.url, token: house.adminToken }
  const [userName, password, email] = [unique('human'), unique('Password'), { email: uniqueEmail(), isVerified: true }]
  const { userId } = ok(await callGrpc('AddHumanUser', { userName, password, profile, email }, admin))
  ok(await callGrpc('AddOTPEmail', { userId }, admin))
  const { sessionId, sessionToken } = ok(await callGrpc('CreateSession', { loginName: userName, password }, admin))
  const session = { sessionId, sessionToken }
  ok(await callGrpc('SetSession', { ...session, otpEmail: { sendCode: {} } }, admin))
  const { challenges } = ok(await callGrpc('SetSession', { ...session, otpEmail: { returnCode: {} } }, admin))
  const wrong = await callGrpc('SetSession', { ...session, otpEmailCode: 'ZZZZZZ' }, admin)
  expect(factsOf(wrong).reason).toBe('CODE_INVALID')
  const whole = ok(await callGrpc('SetSession', { ...session, otpEmailCode: challenges.otpEmail }, admin))
  const next = { sessionId, sessionToken: whole.sessionToken, otpEmail: { returnCode: {} } }
  ok(await callGrpc('SetSession', next, admin))
}

/** Signs a new person in, with tokens at each of five new applications. */
async function signInSomebody() {
  const admin = { url: house.url, token: house.adminToken }
  const userId = unique('human')
  ok(await callGrpc('AddHumanUser', { userId, userName: userId, profile, email: { email: uniqueEmail() } }, admin))
  const families = await addFamilies({ urls: [house.url], token: house.adminToken }, [userId])
  return { url: publicUrlOf(house.url), userId, families }
}

test('a page of the holders of a role reads no more holders than it shows', async () => {
  const admin = { url: house.url, token: house.adminToken }
  const { organizationId } = ok(await callGrpc('AddOrganization', { name: 'Many holders' }, admin))
  const owner = { ...admin, organization: organizationId }
  const { id: projectId } = ok(await callGrpc('AddProject', { name: 'Held' }, owner))
  ok(await callGrpc('AddProjectRole', { projectId, roleKey: 'held', displayName: 'Held' }, owner))
  await sql`
    insert into roster_grants.user_grants
    select 'held-' || n, ${organizationId}, 'user-' || n, ${projectId}, '', false from generate_series(1, ${rowsOfEach}) n
  `
  await sql`
    insert into roster_grants.user_grant_roles
    select ${projectId}, 'held', ${organizationId}, 'held-' || n from generate_series(1, ${rowsOfEach}) n
  `
  await sql`analyze roster_grants.user_grants, roster_grants.user_grant_roles`
  await untilCounted()
  const before = await reads()
  const { holders } = ok(await callGrpc('SearchRoleHolders', { projectId, roleKey: 'held' }, owner))
  expect(holders).toHaveLength(50)
  // The notifier may still deliver what the sign-ins left.
  expect((await readSince(before)).filter(({ table }) => table.startsWith('roster_grants.'))).toEqual([])
})

// Their rows differ by a number. Copies stand before the first one, so the services go on behind the last.
async function fillChains() {
  for (const schema of schemas) {
    await sql.unsafe(`
      insert into ${schema}.audit_checkpoints
      select -n, jws, epoch, -n, '0', -n, signed_at, true
      from (select * from ${schema}.audit_checkpoints order by number limit 1) first, generate_series(1, ${rowsOfEach}) n
    `)
    await sql.unsafe(`
      insert into ${schema}.audit_pages
      select -n, header, salt, '', '0', -n
      from (select * from ${schema}.audit_pages order by number limit 1) first, generate_series(1, ${rowsOfEach}) n
    `)
    await sql.unsafe(`vacuum (analyze) ${schema}.audit_checkpoints, ${schema}.audit_pages`)
  }
}

// Each table was filled on its own. A page would pass over all that have a row of searches alone.
async function addAggregates(schema: string, type: string, searched: string) {
  const [aggregates, ids] = [
    sql`${sql(schema)}.aggregates`,
    sql`select ${sql(`${type}_id`)} as id from ${sql(schema)}.${sql(searched)}`,
  ]
  await sql`
    insert into ${aggregates}
    select copy.*
    from (${ids}) searched
    cross join (select to_jsonb(a) as row from ${aggregates} a where type = ${type} limit 1) one
    cross join jsonb_populate_record(
      null::${aggregates}, one.row || jsonb_build_object('id', searched.id)
    ) copy
    on conflict do nothing
  `
}

/** The tables and indexes of which too many rows were read. */
async function readSince(before: Awaited<ReturnType<typeof reads>>) {
  await untilCounted()
  return [...(await reads())].flatMap(([name, { table, count, most }]) => {
    const read = count - (before.get(name)?.count ?? 0)
    return read >= most ? [{ table, name, read }] : []
  })
}

/** Reads come first and removals last: the objects are there for the others. */
function inOrder(operations: Operation[]): Operation[] {
  const late = [
    /^(Deactivate(?!Organization$)|Lock)/,
    /^(Reactivate(?!Organization$)|Unlock)/,
    /^Revoke/,
    /^Remove(?!(My)?Organization$)/,
    /^Delete/,
    /^Deactivate/,
    /^Reactivate/,
    /^Remove/,
  ]
  const place = (operation: Operation) =>
    /^(Get|List|Search)/.test(operation) ? -2 : late.findIndex((names) => names.test(operation))
  return operations.toSorted((left, right) => place(left) - place(right))
}

// A row that waits for work is not multiplied: the services would do it all. One mail that is sent is one event more
// for webhooks.
async function untilCalm() {
  let calm = 0
  const look = async () => expect((calm = (await waiting()) === 0 ? calm + 1 : 0)).toBe(15)
  await vi.waitFor(look, { timeout: 60_000, interval: 200 })
}

// Once a second, or when it is idle, a connection reports the rows that it read. Ours, which filled the tables, does so
// at once.
async function untilCounted() {
  await sql`select pg_stat_force_next_flush()`
  await sleep(3_000)
}

async function waiting(): Promise<number> {
  const [row] = await sql<[{ waiting: number }]>`
    select (select count(*) from roster_notifier.deliveries where state = 'queued')::int
      + (select count(*) from roster_notifier.chains)::int
      + (select count(*) from roster_users.unsent_email_codes)::int
      + (select count(*) from roster_users.unsent_mails)::int as waiting
  `
  return row.waiting
}

/** The tables that have rows: many of them, or few. */
async function sizes() {
  const rows = await sql<{ name: string; isLarge: boolean }[]>`
    select n.nspname || '.' || c.relname as name, c.reltuples >= ${rowsOfEach * 0.9} as "isLarge"
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind = 'r' and n.nspname = any(${schemas}) and c.reltuples > 0
    order by name
  `
  const named = (isLarge: boolean) => rows.filter((row) => row.isLarge === isLarge).map(({ name }) => name)
  return { large: new Set(named(true)), small: named(false) }
}

/**
 * How many rows, or entries of an index, were read so far, and from how many on a table was read as a whole. Without an
 * index that fits, PostgreSQL goes through all entries of another one: for `aggregates`, through those of a type. One
 * entry for each look into an index is not counted: how often the services look for one row depends on their pace.
 */
async function reads(): Promise<Map<string, { table: string; count: number; most: number }>> {
  const rows = await sql<{ name: string; table: string; count: number; most: number }[]>`
    select schemaname || '.' || relname || ' without an index' as name, schemaname || '.' || relname as table,
      seq_tup_read::int as count, ${rowsOfEach}::int as most
    from pg_stat_user_tables where schemaname = any(${schemas})
    union all
    select schemaname || '.' || relname || ' by ' || indexrelname, schemaname || '.' || relname, (idx_tup_read - idx_scan)::int,
      (case relname when 'aggregates' then ${rowsOfEach / 50} else ${rowsOfEach / 10} end)::int
    from pg_stat_user_indexes
    where schemaname = any(${schemas}) and relname <> all(${[...readsByWindow]}) and indexrelname <> all(${[...ofRemovals, ...sharedByCopies]})
  `
  return new Map(rows.map(({ name, ...read }) => [name, read]))
}
