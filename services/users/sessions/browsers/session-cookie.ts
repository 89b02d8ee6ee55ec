import { v7 as uuid } from 'uuid'
import { batchCalls } from '#lib/batch-calls'
import { deleteInPortions } from '#lib/database/delete-in-portions'
import { type ByFunction, orUnavailable, type Sql, type Transaction } from '#lib/database/database'
import type { Keyring } from '#lib/encryption/keys'
import type { Guard } from '#lib/eventstore/command'
import { sessionSinceOpen } from '../../directory/organizations/in-open-organization.ts'
import { hashToken, newToken } from '../../directory/tokens/token.ts'
import { rowsFor } from '../../row-function.ts'
import { Superseded } from './superseded.ts'

/** A browser, by the value of its session cookie. */
export interface Browser {
  id: string
  hash: Buffer
  /**
   * The value is not the one before it, which shows pages of begun requests, and opens a session only for the person
   * whose password replaced it.
   */
  isPresent: boolean
  /** The hash of the present value. */
  presentHash: Buffer
  /** Its sessions that have not ended, the one used last first. */
  sessions: StoredSession[]
}

/** A session of a browser as it was read. */
export interface StoredSession {
  sessionId: string
  userId: string
  organizationId: string
  /** It was used within the last minute. */
  isFresh: boolean
  /** The applications that used it last in this browser; whether within the last minute. */
  uses: Record<string, boolean>
}

/** 256 random bits. */
const valueForm = /^[\w-]{43}$/

/** The browser of a value with its sessions, if there is one, and PostgreSQL's time. */
export interface FoundBrowser {
  browser: Browser | undefined
  now: Date
}

/** The browser of this value. Calls of the same moment share a statement. UNAVAILABLE STORE_UNAVAILABLE. */
export function findBrowser(sql: Sql, value: string): Promise<FoundBrowser> {
  let find = finders.get(sql)
  if (!find)
    finders.set(sql, (find = batchCalls((values) => findAll(sql, values), { span: { name: 'find browsers' } })))
  return find(value)
}

const finders = new WeakMap<Sql, (value: string) => Promise<FoundBrowser>>()

async function findAll(sql: Sql, values: string[]): Promise<FoundBrowser[]> {
  const hashes = values.map(hashToken)
  // The sub-select hides the length of the list from the planner: see `loadAggregates`.
  const rows = await orUnavailable(sql<(Omit<Browser, 'hash'> & { id: string | null; now: Date; place: number })[]>`
    select b.id, b.hash = h.hash as "isPresent", b.hash as "presentHash", roster_now() as now, place::int, (
      select coalesce(json_agg(json_build_object(
        'sessionId', s.session_id, 'userId', s.user_id, 'organizationId', t.organization_id,
        'isFresh', s.used_at > roster_now() - interval '1 minute',
        'uses', (
          select coalesce(json_object_agg(u.application_id, u.used_at > roster_now() - interval '1 minute'), '{}')
          from browser_uses u where u.browser_id = b.id and u.session_id = s.session_id
        )
      ) order by s.used_at desc), '[]')
      from browser_sessions s
      join tokens t on t.session_id <> '' and t.session_id = s.session_id and t.expires_at > roster_now()
      where s.browser_id = b.id and ${sessionSinceOpen(sql, sql`t.organization_id`, sql`t.session_id`)}
    ) as sessions
    from unnest((select ${hashes.map((hash) => hash.toString('hex'))}::text[])) with ordinality as asked (hex, place)
    cross join lateral (select decode(hex, 'hex') as hash) h
    left join lateral (
      select id, hash from browsers
      where hash = h.hash or (former_hash = h.hash and former_until > roster_now())
      order by hash = h.hash desc limit 1
    ) b on true
  `)
  const found: FoundBrowser[] = []
  for (const { id, now, place, ...own } of rows)
    found[place - 1] = { browser: id === null ? undefined : { id, hash: hashes[place - 1]!, ...own }, now }
  return found
}

/**
 * A browser with this value, which another request may have made before; `newValue` where the browser has to learn
 * another value. A value that is not known becomes that of a new browser: so several tabs that wake with a forgotten
 * cookie share one. UNAVAILABLE STORE_UNAVAILABLE.
 */
export async function makeBrowser(sql: Sql, value: string): Promise<{ browser: Browser; newValue: string }> {
  const { newValue, hash } = newCookie(value)
  const [row] = await orUnavailable(sql<{ id: string }[]>`select make_browser(${uuid()}, ${hash}) as id`)
  return { browser: { id: row!.id, hash, isPresent: true, presentHash: hash, sessions: [] }, newValue }
}

/** The value that makes a browser, by its hash; `newValue` where the browser has to learn another one than it has sent. */
export function newCookie(value: string): { newValue: string; hash: Buffer } {
  const newValue = valueForm.test(value) ? '' : newToken()
  return { newValue, hash: hashToken(newValue || value) }
}

/** A new value for the cookie: who has the present one alone has nothing any more. One of two such changes wins. */
export function renewValue({ id, hash }: Browser, newValue = newToken()): Renewal {
  const renewed = { id, hash: hash.toString('hex'), new_hash: hashToken(newValue).toString('hex') }
  return { newValue, writes: [renewBrowser(renewed)], guard: stillHas(id, hash) }
}

export interface Renewal {
  newValue: string
  writes: ByFunction[]
  guard: Guard
}

const renewBrowser = rowsFor<{ id: string; hash: string; new_hash: string }>('renew_browsers')

/**
 * The same, by a first factor of a person. An answer with the new value may get lost, so it can be given again: the same
 * factor leads from the same value to the same one, which is not known without our keys. Throws `Superseded` where the
 * value is a former one, and anything else replaced it.
 */
export function renewValueFor(keys: Keyring, browser: Browser, userId: string): Renewal {
  const newValue = valueAfter(keys, browser, userId)
  if (browser.isPresent) return renewValue(browser, newValue)
  if (!isReplacedBy(keys, browser, userId)) throw new Superseded()
  return { newValue, writes: [], guard: stillHas(browser.id, browser.presentHash) }
}

/** This person's first factor replaced the former value. */
export function isReplacedBy(keys: Keyring, browser: Browser, userId: string): boolean {
  return !browser.isPresent && browser.presentHash.equals(hashToken(valueAfter(keys, browser, userId)))
}

function valueAfter(keys: Keyring, { id, hash }: Browser, userId: string): string {
  return keys.mac('browser-value', keys.currentId, [id, hash.toString('hex'), userId]).toString('base64url')
}

function stillHas(id: string, hash: Buffer): Guard {
  return {
    key: JSON.stringify(['browser', id, hash.toString('hex')]),
    counted: { by: 'count_renewed_values', of: { id, hash: hash.toString('hex') } },
    most: 1,
    full: new Superseded(),
  }
}

/** Gives the browser another value, without a decision. Empty where another change was faster. UNAVAILABLE STORE_UNAVAILABLE. */
export async function renewAtOnce(sql: Sql, browser: Pick<Browser, 'id' | 'hash'>): Promise<string> {
  const newValue = newToken()
  const renewed = (await orUnavailable(renewing(browser, newValue)(sql))) as unknown[]
  return renewed.length > 0 ? newValue : ''
}

function renewing({ id, hash }: Pick<Browser, 'id' | 'hash'>, newValue: string) {
  return (sql: Sql | Transaction) => sql`
    update browsers set hash = ${hashToken(newValue)}, former_hash = hash, seen_at = roster_now(),
      former_until = roster_now() + interval '60 seconds'
    where id = ${id} and hash = ${hash}
    returning id
  `
}

/** Notes that the browser is in use. */
export async function seeBrowser(sql: Sql, { id }: Browser): Promise<void> {
  await orUnavailable(sql`
    update browsers set seen_at = roster_now() where id = ${id} and seen_at < roster_now() - interval '1 hour'
  `)
}

/**
 * Deletes what is over: sessions without a token, and browsers that no user is known to use, without a session, a day after they were used; after five
 * minutes, one without a sign-in whose requests are over, since strangers make as many as they like.
 */
export async function deleteBrowsers(sql: Sql): Promise<void> {
  await deleteInPortions(
    sql,
    'browser_sessions',
    sql`not exists (select from tokens t where t.session_id <> '' and t.session_id = browser_sessions.session_id)`,
  )
  const without = (table: string) => sql`not exists (select from ${sql(table)} t where t.browser_id = browsers.id)`
  await deleteInPortions(
    sql,
    'browsers',
    sql`
      seen_at < roster_now() - interval '25 hours' and ${without('browser_sessions')} and ${without('known_browsers')}
    `,
  )
  await deleteInPortions(
    sql,
    'browsers',
    sql`
      seen_at between roster_now() - interval '3 hours' and roster_now() - interval '5 minutes'
      and ${without('browser_sessions')} and ${without('authorization_requests')} and ${without('browser_uses')}
      and ${without('known_browsers')} and ${without('provider_intents')}
    `,
  )
  await deleteInPortions(
    sql,
    'browser_uses',
    sql`not exists (select from browsers b where b.id = browser_uses.browser_id)`,
  )
}
