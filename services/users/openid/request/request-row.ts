import type { SecondFactorKind } from '../../directory/events/human.ts'
import { randomBytes } from 'node:crypto'
import { v7 as uuid } from 'uuid'
import type { ProviderTokens } from '#gen/roster/idp/v1/internal_service'
import type {
  CodeError,
  InvitationError,
  NewPasswordError,
  RecoveryError,
  RegistrationError,
  SignInError,
} from '#gen/roster/users/v1/sign_in_service'
import { type ByFunction, orUnavailable, type Sql, type Statement, type Transaction } from '#lib/database/database'
import { deleteInPortions } from '#lib/database/delete-in-portions'
import type { Keyring } from '#lib/encryption/keys'
import type { Guard } from '#lib/eventstore/command'
import { Superseded } from '../../sessions/browsers/superseded.ts'
import type { Context } from '../../context.ts'
import type { MatchedRoles } from '../../sessions/factors/provider/provider.ts'
import { rowsFor } from '../../row-function.ts'
import { networkOf } from '../../directory/rate-limits/token-buckets.ts'
import type { KeptParameters, Parameters } from './parameters.ts'

/** An authorization request that waits for its answer, or had it; or a request to sign out. */
export interface RequestRow<P = Parameters> {
  id: string
  /** Null where a login application finishes it. */
  browserId: string | null
  parameters: P
  /** The session that was chosen for it, and its user. */
  sessionId: string | null
  userId: string | null
  progress: Progress
  answer: 'given' | 'cancelled' | null
  restarts: boolean
  isOver: boolean
  beganAt: Date
  expiresAt: Date
}

/** What its page shows next. */
export interface Progress {
  /** As it was typed. */
  loginName?: string
  error?: SignInError | undefined
  /** RFC 3339. */
  retryAt?: string | undefined
  /** A passkey that nobody has. */
  unknownCredential?: string | undefined
  /** The person ticked that they want to stay signed in. */
  keep?: boolean
  /** A name is asked for, though a person is signed in. */
  asksName?: boolean | undefined
  /** A registration: as it was typed, and what was wrong. `isMailed`: the code is asked for. */
  registration?: {
    email: string
    givenName: string
    familyName: string
    language: string
    isMailed?: boolean
    error?: RegistrationError
    retryAt?: string
  }
  /**
   * A forgotten password, of a name as it was typed, or of a person who is known. `codeIds`: of the codes that were asked
   * for here, the last ones; no other counts here.
   */
  recovery?: {
    loginName: string
    userId?: string | undefined
    codeIds?: string[] | undefined
    isAsked?: boolean
    error?: RecoveryError
    retryAt?: string
    /** The code was right, and a passkey is to take the place of a new password. */
    passkey?: RecoveryByPasskey | undefined
  }
  /** A code that signs in by itself was asked for. */
  mailed?: MailedSignIn | undefined
  /** What a new person typed to accept an invitation, and what was wrong. */
  invitation?: { givenName?: string; familyName?: string; error: InvitationError; retryAt?: string }
  /** The second factor that the person wants to use. */
  way?: SecondFactorKind | undefined
  /** Of the contexts (`acr`) that the application asks for, those that the person passed over. */
  passedOver?: string[]
  /** What the browser can make once the sign-in is complete: it is offered then. */
  newPasskey?: 'conditional' | 'button' | undefined
  /** The passkey that was offered: its challenge alone counts. `failed`: what the browser made cannot serve. */
  offer?: { challenge: string; conditional: boolean } | 'failed' | undefined
  /** The code of a second factor was mailed, and what was wrong with the last one. */
  code?: { isSent?: boolean | undefined; error?: CodeError; retryAt?: string | undefined } | undefined
  /** A sign-in at an identity provider has begun: its answer counts once. */
  provider?: BegunAtProvider | undefined
  /** The name was asked for alone, and led to no provider, or back from one. */
  named?: boolean | undefined
  /** The request led to a provider without a click: once, or nobody could go back. */
  wentStraight?: boolean | undefined
  /** Whom a provider has proved here, and no user is linked to. */
  proved?: ProvedHere | undefined
  /** What was wrong with the password that takes the place of one that must be changed. */
  newPassword?: { error: NewPasswordError; retryAt?: string } | undefined
  /** The code that a right password gave, and when, RFC 3339: the same password gets it again. */
  given?: { code: string; at: string }
  /** The person chose the account for this request. */
  chosen?: boolean | undefined
  /** What the person decided on this request. */
  decision?: 'allowed' | 'denied'
  /** Of a sign-out: the provider that it leads on to. */
  leavesBy?: LeavesBy | undefined
  /** The person allowed it, but has allowed too many others something. */
  tooMany?: boolean
}

/** What binds the answer of an identity provider to the sign-in that began it, and what was asked of it. */
export interface BegunAtProvider {
  idpId: string
  /** The part of `state` that nobody knows. */
  secret: string
  nonce: string
  codeVerifier: string
  promptsLogin: boolean
  /** Seconds. */
  maxAge?: number | undefined
  keep: boolean
  /** The header that brings a token. Empty: none does. */
  headerName: string
  /** The person pressed its button here. Else an application led there, and nothing is connected. */
  byButton?: true
  /** The answer that came by POST, without the cookie, and when, RFC 3339. */
  posted?: { answer: string; at: string }
}

/** Whom an identity provider has proved, in its own words. */
export interface ProvedHere {
  idpId: string
  issuer: string
  subject: string
  /** Of the provider, and what the person is called there. */
  provider: string
  userName: string
  /** RFC 3339. */
  at: string
  /** RFC 3339: when the person signed in there. Missing: the provider does not say. */
  provedAt?: string | undefined
  /** The words of the provider by which it counts as two factors. */
  counted?: string[] | undefined
  /** The roles that the provider gives. Missing: none. */
  roles?: MatchedRoles | undefined
  keep: boolean
  /** The person's session there. Missing or empty: the provider does not say. */
  sid?: string
  /** What the provider gave. Missing: its record keeps nothing. */
  tokens?: ProviderTokens | undefined
  /** A link was refused: another user has it. */
  taken?: true
  /** The organization in which the account is made. Missing: none is, and the person links one that is there. */
  registersIn?: string | undefined
  email: string
  /** The address that the provider says is the person's. Missing: it says so of none. */
  verifiedEmail?: string | undefined
  givenName: string
  familyName: string
  language: string
  displayName?: string | undefined
  nickName?: string | undefined
  error?: RegistrationError
  retryAt?: string
}

/** A provider at which a person signs out, too. */
export interface LeavesBy {
  idpId: string
  /** The one that it gave, and who it was then. Missing: none is kept. */
  idToken?: string
  receiver?: string
}

/** What goes on from one page of a sign-in to the next. */
export function ongoing({ newPasskey, proved }: Progress): Pick<Progress, 'chosen' | 'newPasskey' | 'proved'> {
  return { chosen: true, ...(newPasskey && { newPasskey }), ...(proved && !proved.registersIn && { proved }) }
}

/** A code that signs in: for a name as it was typed, or a person who is known; the one that counts; what was wrong with it. */
export interface MailedSignIn {
  loginName: string
  userId?: string | undefined
  codeId: string
  error?: CodeError
}

export interface RecoveryByPasskey {
  userId: string
  codeId: string
  /** The second factor that was proved beside it, as it was set up then, and when, RFC 3339. */
  second?: { kind: SecondFactorKind; setUp: string; at: string } | undefined
}

/** What a registration begins with. A login name that was typed before may be an address. */
export function emptyRegistration(loginName: string): NonNullable<Progress['registration']> {
  return { email: loginName.includes('@') ? loginName.slice(0, 200) : '', givenName: '', familyName: '', language: '' }
}

const purpose = 'authorization-request'
const [lifetime, postedLifetime] = [3600, 60]
const bounds = { ofBrowser: 50, ofAddress: 5000, ofNetwork: 20_000 }
const unit = 4096

/**
 * What a row begins with. Without a browser it was posted, and waits a minute for one; or a login application finishes
 * it, in a browser that it knows.
 */
export interface NewRequest {
  parameters: KeptParameters
  browserId: string | undefined
  /** The value of the cookie of a browser that may have to be made with it. Then there is no `browserId`. */
  newBrowser?: Buffer
  /** Empty where it does not count for its address. */
  address: string
  sessionId?: string | undefined
  userId?: string | undefined
  restarts?: boolean
  finishedBy?: 'login-client'
}

/** Stores a request, and returns its id. Where the browser or the address has too many, the oldest go. */
export async function beginRequest({ sql, keys }: Pick<Context, 'sql' | 'keys'>, begun: NewRequest): Promise<string> {
  const { parameters, browserId, newBrowser, address, sessionId, userId, restarts = false, finishedBy } = begun
  // Login applications of the reference system know theirs by this beginning.
  const id = `${finishedBy ? 'V2_' : ''}${randomBytes(16).toString('base64url')}`
  const text = JSON.stringify(parameters)
  const network = networkOf(address)
  await orUnavailable(sql`
    select begin_authorization_request(${id},
      ${newBrowser ? sql`find_or_make_browser(${uuid()}, ${newBrowser})` : sql`${browserId ?? null}::text`}, ${address ? macOf(keys, address) : null},
      ${network === undefined ? null : macOf(keys, network)}, ${Math.ceil(Buffer.byteLength(text) / unit)},
      ${keys.encrypt(purpose, text)}, ${sessionId ?? null}, ${userId ?? null}, ${restarts},
      ${browserId === undefined && !newBrowser && !finishedBy ? postedLifetime : lifetime}, ${bounds.ofBrowser}, ${bounds.ofAddress},
      ${bounds.ofNetwork}, ${finishedBy ?? null})
  `)
  return id
}

function macOf(keys: Keyring, address: string): Buffer {
  return keys.mac('request-address', keys.currentId, [address])
}

/** Takes what a POST began: once. */
export async function takePosted<P extends KeptParameters>(
  { sql, keys }: Pick<Context, 'sql' | 'keys'>,
  id: string,
  isOf: IsOf<P>,
): Promise<P | undefined> {
  const [row] = await orUnavailable(sql<{ parameters: Buffer; isOver: boolean }[]>`
    delete from authorization_requests where id = ${id} and browser_id is null and finished_by is null
    returning parameters, expires_at <= roster_now() as "isOver"
  `)
  if (!row || row.isOver) return undefined
  const parameters = JSON.parse(keys.decrypt(purpose, row.parameters)) as KeptParameters
  return isOf(parameters) ? parameters : undefined
}

/** `isSignIn` or `isSignOut`. */
export type IsOf<P extends KeptParameters> = (parameters: KeptParameters) => parameters is P

type Finder = { browserId: string } | 'page' | 'login-client' | 'explanation'

/**
 * A request of this browser; or one that a login application finishes. Neither is known to the other. An explanation
 * knows both. `page`: of any browser, which the caller compares.
 */
export async function findRequest<P extends KeptParameters>(
  { sql, keys }: Pick<Context, 'sql' | 'keys'>,
  id: string,
  by: Finder,
  isOf: IsOf<P>,
): Promise<RequestRow<P> | undefined> {
  const [row] = await orUnavailable(sql<StoredRow[]>`
    select id, browser_id as "browserId", parameters, session_id as "sessionId", user_id as "userId", progress, answer, restarts, began_at as "beganAt",
      expires_at as "expiresAt", expires_at <= roster_now() as "isOver"
    from authorization_requests
    where id = ${id} and ${ofOne(sql, by)}
  `)
  if (!row) return undefined
  const open = <T>(text: Buffer | null, none: T) => (text ? (JSON.parse(keys.decrypt(purpose, text)) as T) : none)
  const parameters = open<KeptParameters>(row.parameters, {} as Parameters)
  return isOf(parameters) ? { ...row, parameters, progress: open<Progress>(row.progress, {}) } : undefined
}

function ofOne(sql: Sql, by: Finder) {
  if (by === 'explanation') return sql`true`
  if (by === 'page') return sql`finished_by is null and browser_id is not null`
  return by === 'login-client' ? sql`finished_by = ${by}` : sql`finished_by is null and browser_id = ${by.browserId}`
}

type StoredRow = Omit<RequestRow, 'parameters' | 'progress'> & { parameters: Buffer; progress: Buffer | null }

/**
 * Goes on with a request: what its page shows next, and the session that is chosen for it. Null: none is. Undefined:
 * it stays.
 */
export function advance(
  keys: Keyring,
  id: string,
  progress: Progress,
  session?: { sessionId: string; userId: string } | null,
): (sql: Sql | Transaction) => PromiseLike<unknown> {
  const text = keys.encrypt(purpose, JSON.stringify(progress))
  const { sessionId, userId } = session ?? { sessionId: null, userId: null }
  return (sql) => sql`
    update authorization_requests set progress = ${text}
      ${session === undefined ? sql`` : sql`, session_id = ${sessionId}, user_id = ${userId}`}
    where id = ${id} and answer is null
  `
}

/** The same beside the events of a transaction. `answer`: the request gets it. */
export function advancing(
  keys: Keyring,
  id: string,
  progress: Progress,
  { sessionId, userId }: { sessionId: string; userId: string },
  answer: 'given' | null = null,
): ByFunction {
  const text = keys.encrypt(purpose, JSON.stringify(progress)).toString('hex')
  return advanceRow({ id, progress: text, session_id: sessionId, user_id: userId, answer })
}

const advanceRow = rowsFor<{
  id: string
  progress: string
  session_id: string
  user_id: string
  answer: 'given' | null
}>('advance_requests')

/** Gives a request to another browser. */
export function moveRequest(id: string, { from, to }: { from: string; to: string }): Statement {
  return (sql) => sql`update authorization_requests set browser_id = ${to} where id = ${id} and browser_id = ${from}`
}

/** Closes a request without an event; false where it had its answer. */
export async function closeRequest(sql: Sql, id: string, answer: 'given' | 'cancelled'): Promise<boolean> {
  const { count } = await orUnavailable(sql`
    update authorization_requests set answer = ${answer} where id = ${id} and answer is null
  `)
  return count > 0
}

/** Closes a request beside an event. One of two answers is given. */
export function closing(id: string): { write: Statement; guard: Guard } {
  return {
    write: (sql) => sql`update authorization_requests set answer = 'given' where id = ${id}`,
    guard: stillOpen(id),
  }
}

/** The request is still open where a change is stored. */
export function stillOpen(id: string): Guard {
  return {
    key: JSON.stringify(['request', id]),
    counted: { by: 'count_request_answers', of: { id } },
    most: 1,
    full: new Superseded(),
  }
}

/** Deletes requests that cannot be begun again: a day after their end, or, where they were posted, then. */
export async function deleteRequests(sql: Sql): Promise<void> {
  await deleteInPortions(
    sql,
    'authorization_requests',
    sql`expires_at < roster_now() - case when browser_id is null then interval '0' else interval '1 day' end`,
  )
}
