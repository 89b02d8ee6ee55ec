import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres, { type Sql, type TransactionSql } from 'postgres'
import { readText } from '#lib/config/read-config'
import { nameHolders } from '#lib/schema/name-holders'
import { isConnectionError } from '#lib/database/database'
import { driverOptions } from '#lib/database/database-url'
import { refuseOldPostgres } from '#lib/database/refuse-old-postgres'
import { readServerUrls, type ServerUrls, writeServerUrls } from '#lib/config/server-urls'

/** The services that keep data, each in a schema of its own under a role of its own, both named `roster_<service>`. */
export const storingServices = ['users', 'grants', 'idp', 'notifier'] as const

// For searches. They bring operator classes of indexes, which migrations name.
const extensions = ['pg_trgm', 'btree_gin']

export type StoringService = (typeof storingServices)[number]

/** The operator's command has a role for each service, and no schema. */
type Passwords = Record<StoringService, string> & { operator?: string | undefined }
type Urls = Record<StoringService, string> & { operator?: string }

/**
 * Makes the database (if it is missing), roles and schemas as they should be. It may run again, and several at once,
 * with the same result. Returns each service's URL, and the one of the operator's command if it has a password. Its
 * roles are named `roster_operator_<service>`; the URL has only the part that they share.
 * `dedicated`: the whole server is Roster's, so the roles may not enter its other databases either.
 * `say` hears who holds a lock that this waits for.
 */
export async function provision(
  adminUrl: string,
  passwords: Passwords,
  options: { dedicated?: boolean; say?: (text: string) => void } = {},
): Promise<Urls> {
  const urls = readServerUrls(adminUrl) ?? { first: new URL(adminUrl), hosts: [] }
  const { first } = urls
  if (first.pathname.length < 2) first.pathname = '/roster'
  const url = writeServerUrls(urls)
  const database = decodeURIComponent(first.pathname.slice(1))
  await ensureDatabase(url, database, options.dedicated ?? false).catch((cause: Error) => {
    if (!isConnectionError(cause)) throw cause
    const hosts = urls.hosts.join(', ')
    throw new Error(`PostgreSQL at ${hosts}, which DATABASE_URL names, does not answer: ${cause.message}`, { cause })
  })
  const open = () => connect(url, database)
  const [sql, other] = [open(), open()]
  const say = (holders: string) => options.say?.(`provision waits for a lock that ${holders} holds`)
  try {
    await again(() =>
      sql.begin(async (tx) => {
        const [own] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
        await nameHolders({ sql: other, pids: () => [own!.pid], say }, () => arrange(tx, database, passwords))
      }),
    )
  } finally {
    await Promise.all([sql.end({ timeout: 5 }), other.end({ timeout: 5 })])
  }
  const roles = ([...storingServices, 'operator'] as const).flatMap((name) => {
    const password = passwords[name]
    return password === undefined ? [] : [[name, roleUrl(urls, name, password)]]
  })
  return Object.fromEntries(roles) as Urls
}

function connect(text: string, database: string): Sql {
  const { url, ...options } = driverOptions(text)
  const target = { target_session_attrs: 'read-write' as const }
  return postgres(url, { ...options, ...target, max: 1, onnotice: () => {}, connect_timeout: 30, database })
}

async function ensureDatabase(url: string, database: string, dedicated: boolean): Promise<void> {
  const exists = await withDatabase(url, database, (sql) => sql`select 1`).then(
    () => true,
    (error: unknown) => {
      // PgBouncer tells it by the code of another fault.
      if (['3D000', '08P01'].includes(codeOf(error) ?? '')) return false
      throw error
    },
  )
  if (exists && !dedicated) return
  await withDatabase(url, 'postgres', async (sql) => {
    if (!exists) {
      // In the order of bytes: another release of the C library must not break an index.
      await again(() => sql`create database ${sql(database)} encoding 'UTF8' locale 'C' template template0`).catch(
        (error: unknown) => {
          if (codeOf(error) !== '42P04') throw error
        },
      )
    }
    if (dedicated) await again(() => sql`revoke all on database postgres, template1 from public`)
  })
}

async function withDatabase<T>(url: string, database: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connect(url, database)
  try {
    return await work(sql)
  } finally {
    await sql.end({ timeout: 5 })
  }
}

async function arrange(tx: TransactionSql, database: string, passwords: Passwords): Promise<void> {
  await refuseOldPostgres(tx)
  await tx`select pg_advisory_xact_lock(hashtext('roster provision'))`
  await tx`revoke all on database ${tx(database)} from public`
  await tx`revoke all on schema public from public`
  await revokeLargeObjects(tx)
  const shared = await arrangeExtensions(tx)
  for (const service of storingServices) await arrangeService(tx, database, service, passwords[service], shared)
  if (passwords.operator) await arrangeOperator(tx, database, passwords.operator, shared)
}

// No service needs large objects, which a role could fill the disk with. The functions are the superuser's to revoke.
async function revokeLargeObjects(tx: TransactionSql): Promise<void> {
  if (await isSuperuser(tx))
    await tx`revoke execute on function lo_creat(integer), lo_create(oid), lo_from_bytea(oid, bytea) from public`
}

// The services' roles may not make extensions. One that is there already stays in its schema.
async function arrangeExtensions(tx: TransactionSql): Promise<string[]> {
  await tx`create schema if not exists roster_extensions`
  await tx`revoke all on schema roster_extensions from public`
  for (const extension of extensions)
    await tx`create extension if not exists ${tx(extension)} with schema roster_extensions`
  const rows = await tx<{ name: string }[]>`
    select distinct n.nspname as name from pg_extension e join pg_namespace n on n.oid = e.extnamespace
    where e.extname = any(${extensions})
  `
  return rows.map(({ name }) => name)
}

async function arrangeService(
  tx: TransactionSql,
  database: string,
  service: StoringService,
  password: string,
  shared: string[],
): Promise<void> {
  const role = await arrangeRole(tx, database, service, password)
  await tx`create schema if not exists ${tx(role)} authorization ${tx(role)}`
  await tx`alter schema ${tx(role)} owner to ${tx(role)}`
  await tx`revoke all on schema ${tx(role)} from public`
  for (const schema of shared) await tx`grant usage on schema ${tx(schema)} to ${tx(role)}`
  const path = [role, ...shared].map((schema) => tx`${tx(schema)}`).reduce((all, next) => tx`${all}, ${next}`)
  await tx`alter role ${tx(role)} in database ${tx(database)} set search_path = ${path}`
}

// Each service says itself which of its tables its role may read (lib/schema/operator.sql). The command compares
// rows in temporary tables. A captured service can have its own code run where its tables are read. So no role may read
// the tables of two services.
async function arrangeOperator(tx: TransactionSql, database: string, password: string, shared: string[]) {
  for (const service of storingServices) {
    const role = await arrangeRole(tx, database, `operator_${service}`, password)
    await tx`grant temporary on database ${tx(database)} to ${tx(role)}`
    await limitOperator(tx, database, role)
    for (const schema of [`roster_${service}`, ...shared]) await tx`grant usage on schema ${tx(schema)} to ${tx(role)}`
  }
}

// The newest of them is younger than some servers.
const operatorLimits = {
  statement_timeout: '60s',
  lock_timeout: '5s',
  idle_in_transaction_session_timeout: '30s',
  transaction_timeout: '120s',
}

// A command that hangs, or a person at a prompt, must not hold up the outboxes: an open transaction does, and so does a
// lock. A program that means harm can lift these limits.
async function limitOperator(tx: TransactionSql, database: string, role: string): Promise<void> {
  await tx`alter role ${tx(role)} connection limit 10`
  const known = await tx<{ name: keyof typeof operatorLimits }[]>`
    select name from pg_settings where name = any(${Object.keys(operatorLimits)})
  `
  for (const { name } of known)
    await tx`alter role ${tx(role)} in database ${tx(database)} set ${tx(name)} = ${tx.unsafe(`'${operatorLimits[name]}'`)}`
}

async function arrangeRole(tx: TransactionSql, database: string, name: string, password: string): Promise<string> {
  const role = `roster_${name}`
  const [known] = await tx`select from pg_roles where rolname = ${role}`
  if (!known) await tx`create role ${tx(role)}`
  // Hashed here: a password never stands in a statement that the server might log.
  const attributes = `login nosuperuser nocreatedb nocreaterole noreplication connection limit 100 password '${scramVerifier(password)}'`
  const isSuper = await isSuperuser(tx)
  if (!isSuper) await tx`grant ${tx(role)} to current_user`
  // Only a superuser may name the attributes that are off by default.
  await tx.unsafe(`alter role ${role} ${isSuper ? attributes : attributes.replace(/no\w+ /g, '')}`)
  await tx`grant connect on database ${tx(database)} to ${tx(role)}`
  return role
}

async function isSuperuser(tx: TransactionSql): Promise<boolean> {
  const [me] = await tx<{ rolsuper: boolean }[]>`select rolsuper from pg_roles where rolname = current_user`
  return me?.rolsuper === true
}

// RFC 5803, as PostgreSQL keeps it.
function scramVerifier(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, 4096, 32, 'sha256')
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest()
  const stored = createHash('sha256').update(hmac('Client Key')).digest('base64')
  return `SCRAM-SHA-256$4096:${salt.toString('base64')}$${stored}:${hmac('Server Key').toString('base64')}`
}

// Roles belong to the whole server, the lock to one database: two databases may still meet at a role.
async function again<T>(work: () => PromiseLike<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      const meeting = ['XX000', '40P01', '40001', '23505', '42710', '55006'].includes(codeOf(error) ?? '')
      if (!meeting || attempt === 20) throw error
      await sleep(Math.random() * 50 * attempt)
    }
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string }).code
}

function roleUrl({ first, hosts }: ServerUrls, name: string, password: string): string {
  const url = new URL(first)
  url.username = `roster_${name}`
  url.password = encodeURIComponent(password)
  return writeServerUrls({ first: url, hosts })
}

function setting(name: string): string {
  const value = readText(name)
  if (!value) throw new Error(`${name} (or ${name}_FILE) is not set.`)
  return value
}

if (import.meta.main) {
  try {
    const passwords = storingServices.map((service) => [
      service,
      setting(`ROSTER_${service.toUpperCase()}_DB_PASSWORD`),
    ])
    const dedicated = process.env['ROSTER_DEDICATED_POSTGRES'] === '1'
    const services = Object.fromEntries(passwords) as Record<StoringService, string>
    await provision(
      setting('DATABASE_URL'),
      { ...services, operator: readText('ROSTER_OPERATOR_DB_PASSWORD') },
      { dedicated, say: console.error },
    )
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
