import { randomBytes } from 'node:crypto'
import type { ProviderClaims } from '#gen/roster/idp/v1/internal_service'
import { orUnavailable, type Sql } from '#lib/database/database'
import { deleteInPortions } from '#lib/database/delete-in-portions'
import { RosterError } from '#lib/errors'
import type { Context } from '../../context.ts'
import { singleUse } from '../../directory/secrets/single-use.ts'
import { hashToken, newToken } from '../../directory/tokens/token.ts'
import { linkKey, linkKind } from '../../directory/events/links.ts'
import type { MatchedRoles, ProvedByProvider } from '../factors/provider/provider.ts'
import { sidHash } from '../factors/provider/provider-sessions.ts'

/** A sign-in at an identity provider that a login application began for a page of its own. */
export interface Intent {
  id: string
  callerId: string
  /** The browser that opened it first. Null: none has. */
  browserId: string | null
  progress: IntentProgress
  beganAt: Date
  expiresAt: Date
  now: Date
}

/** What was asked for, and what became of it. It is stored encrypted. */
export interface IntentProgress {
  idpId: string
  /** The one that has the provider, or the instance. */
  organizationId: string
  successUrl: string
  failureUrl: string
  loginHint: string
  promptsLogin: boolean
  /** Seconds. */
  maxAge?: number | undefined
  /** The provider was asked: what binds its answer. */
  begun?: BegunByIntent
  proved?: ProvedByIntent
}

export interface BegunByIntent {
  idpId: string
  /** The part of `state` that nobody knows. */
  secret: string
  nonce: string
  codeVerifier: string
  promptsLogin: boolean
  maxAge?: number | undefined
  keep: boolean
  headerName: string
  /** The answer that came by POST, without the cookie, and when, RFC 3339. */
  posted?: { answer: string; at: string }
}

/** Whom the provider has proved, and what it says of them. */
export interface ProvedByIntent extends ProvedByProvider {
  userName: string
  claims: ProviderClaims
  isAutoUpdate: boolean
  roles?: MatchedRoles | undefined
  /** The claims as they came, in JSON. Empty: they are too long. */
  said: string
  /** RFC 3339. */
  at: string
}

/** Seconds in which the browser has to be back, and in which the token is good. */
const [opensFor, tokenFor] = [900, 600]
const mostOfCaller = 5000
const purpose = 'provider-intent'

type Storage = Pick<Context, 'sql' | 'keys'>

/** RESOURCE_EXHAUSTED IDP_INTENTS_FULL. */
export async function beginIntent(
  { sql, keys }: Storage,
  callerId: string,
  progress: IntentProgress,
): Promise<{ id: string; expiresAt: Date }> {
  const id = randomBytes(16).toString('base64url')
  const [row] = await orUnavailable(sql<{ expiresAt: Date }[]>`
    insert into provider_intents (id, caller_id, progress, began_at, expires_at)
    select ${id}, ${callerId}, ${keys.encrypt(purpose, JSON.stringify(progress))}, roster_now(),
      roster_now() + make_interval(secs => ${opensFor})
    where (
      select count(*) from (
        select from provider_intents where caller_id = ${callerId} and expires_at > roster_now() limit ${mostOfCaller}
      ) living
    ) < ${mostOfCaller}
    returning expires_at as "expiresAt"
  `)
  if (!row)
    throw new RosterError(
      'RESOURCE_EXHAUSTED',
      'IDP_INTENTS_FULL',
      `A caller has ${mostOfCaller} living sign-ins at identity providers at most.`,
    )
  return { id, ...row }
}

/** A living one whose answer has not come yet. */
export function findBegunIntent(context: Storage, id: string): Promise<Intent | undefined> {
  return find(context, context.sql`id = ${id} and token_hash is null`)
}

/** A living one that proved somebody, in the hands of its caller, with its token, as long as it was not used. */
export async function findProvedIntent(
  context: Storage,
  { idpIntentId, idpIntentToken }: { idpIntentId: string; idpIntentToken: string },
  callerId: string,
): Promise<Intent & { progress: { proved: ProvedByIntent } }> {
  const { sql } = context
  const found = await find(
    context,
    sql`id = ${idpIntentId} and caller_id = ${callerId} and token_hash = ${hashToken(idpIntentToken)}`,
  )
  if (!found || !hasProved(found) || (await isUsed(sql, found))) throw intentNotFound()
  return found
}

function hasProved(intent: Intent): intent is Intent & { progress: { proved: ProvedByIntent } } {
  return intent.progress.proved !== undefined
}

async function isUsed(sql: Sql, intent: Intent): Promise<boolean> {
  const { kind, scope, key } = useOf(intent)
  const used = await orUnavailable(sql`
    select from unique_keys where kind = ${kind} and scope = ${scope} and key = ${key}
  `)
  return used.length > 0
}

/** What a session uses up. */
export function useOf({ id, expiresAt }: Pick<Intent, 'id' | 'expiresAt'>) {
  return singleUse('idp_intent', id, expiresAt.getTime() / 1000)
}

/** NOT_FOUND IDP_INTENT_NOT_FOUND: it is unknown, another caller's, over, used, or has another token. All are alike. */
export function intentNotFound(): RosterError {
  return new RosterError('NOT_FOUND', 'IDP_INTENT_NOT_FOUND', 'There is no such sign-in at an identity provider.')
}

async function find({ sql, keys }: Storage, condition: ReturnType<Sql>): Promise<Intent | undefined> {
  const [row] = await orUnavailable(sql<(Omit<Intent, 'progress'> & { progress: Buffer })[]>`
    select id, caller_id as "callerId", browser_id as "browserId", progress, began_at as "beganAt", expires_at as "expiresAt",
      roster_now() as now
    from provider_intents where ${condition} and expires_at > roster_now()
  `)
  return row && { ...row, progress: JSON.parse(keys.decrypt(purpose, row.progress)) as IntentProgress }
}

/** Goes on with one in the browser that has it, or that gets it now. False: another one has it, or it is over. */
export async function advanceIntent(
  { sql, keys }: Storage,
  id: string,
  browserId: string,
  progress: IntentProgress,
): Promise<boolean> {
  const { count } = await orUnavailable(sql`
    update provider_intents set browser_id = ${browserId}, progress = ${keys.encrypt(purpose, JSON.stringify(progress))}
    where id = ${id} and coalesce(browser_id, ${browserId}) = ${browserId} and token_hash is null
      and expires_at > roster_now()
  `)
  return count > 0
}

/** Somebody was proved: the token, which is stored by its hash alone. Undefined: it was over meanwhile. */
export async function proveIntent(
  { sql, keys, personal }: Storage & Pick<Context, 'personal'>,
  { id, progress }: Intent,
  proved: ProvedByIntent,
): Promise<string | undefined> {
  const { begun: _, ...asked } = progress
  const token = newToken()
  const { idpId, issuer, sid = '' } = proved
  const { count } = await orUnavailable(sql`
    update provider_intents set token_hash = ${hashToken(token)}, idp_id = ${idpId},
      subject = ${subjectHash(personal, proved)}, sid = ${sid === '' ? null : sidHash(issuer, sid)},
      progress = ${keys.encrypt(purpose, JSON.stringify({ ...asked, proved }))},
      expires_at = roster_now() + make_interval(secs => ${tokenFor})
    where id = ${id} and token_hash is null and expires_at > roster_now()
  `)
  return count > 0 ? token : undefined
}

/** A provider says that somebody has signed out there, of all sessions or of one: what it proved of them before opens nothing. */
export async function forgetProved(
  { sql, personal }: Pick<Context, 'sql' | 'personal'>,
  { idpId, issuer, subject, sid }: { idpId: string; issuer: string; subject: string; sid: string },
): Promise<void> {
  const ofSubject = subject === '' ? sql`` : sql`and subject = ${subjectHash(personal, { idpId, issuer, subject })}`
  const ofSession = sid === '' ? sql`` : sql`and sid = ${sidHash(issuer, sid)}`
  await orUnavailable(sql`delete from provider_intents where idp_id = ${idpId} ${ofSubject} ${ofSession}`)
}

function subjectHash(personal: Context['personal'], proved: Parameters<typeof linkKey>[0]): string {
  return personal.storedKey(linkKind, linkKey(proved).key)
}

/** It has ended without proving anybody. */
export async function dropIntent({ sql }: Pick<Context, 'sql'>, id: string): Promise<void> {
  await orUnavailable(sql`delete from provider_intents where id = ${id} and token_hash is null`)
}

/** Deletes those that are over. */
export async function deleteIntents(sql: Sql): Promise<void> {
  await deleteInPortions(sql, 'provider_intents', sql`expires_at < roster_now()`)
}
