import type { JWK, JWTPayload } from 'jose'
import type { SigningKey } from '#gen/roster/users/v1/signing_key'
import { InternalServiceDefinition as GrantsInternal } from '#gen/roster/grants/v1/internal_service'
import { InternalServiceDefinition as IdpInternal } from '#gen/roster/idp/v1/internal_service'
import type { Sql } from '#lib/database/database'
import type { MailWithoutEvent } from '#lib/events/hints'
import type { Personal } from '#lib/encryption/personal'
import type { Store } from '#lib/eventstore/store'
import type { Keyring } from '#lib/encryption/keys'
import type { Place } from '#lib/fair-semaphore'
import type { Log } from '#lib/log'
import type { Client } from '#lib/rpc/call'
import type { RolesElsewhere } from '#lib/rpc/roles-elsewhere'
import type { Config } from './config.ts'
import type { AfterResponse } from './after-response.ts'
import type { internalCalls } from '../internal-calls.ts'

/** Everything that operations work with. */
export interface Context {
  /** What this request has read beside aggregates, by name: see `rememberReads`. */
  remembered?: Map<string, Promise<unknown>>
  config: Config
  sql: Sql
  store: Store
  personal: Personal
  keys: Keyring
  signingKeys: SigningKeys
  idTokenKeys: IdTokenKeys
  grants: Client<typeof GrantsInternal, (typeof internalCalls.users.grants)[number]>
  idp: Client<typeof IdpInternal, (typeof internalCalls.users.idp)[number]>
  rolesElsewhere: Pick<RolesElsewhere, 'find'>
  /** Tells the notifier at once of a mail that has no event. Its sweep finds it later. */
  announceMail(mail: MailWithoutEvent): void
  log: Log
  afterResponse: AfterResponse
  secretUses: SecretUses
  credentialUses: CredentialUses
  failureCounts: FailureCounts
  arrivals: Arrivals
  /** Locks a user whose password was wrong too often in a row, where the policy says so. After the answer. */
  lockAfterWrong(user: { userId: string; organizationId: string }, requestId: string): Promise<void>
  passwordHashes: PasswordHashes
}

/**
 * Hashes of passwords, by the parameters of Argon2id that the instance is set to. RESOURCE_EXHAUSTED PASSWORDS_THROTTLED,
 * where too many wait; UNAVAILABLE STORE_UNAVAILABLE.
 */
export interface PasswordHashes {
  /** A hash of a new password. */
  hash(password: string, place: Place): Promise<string>
  /** Whether the password matches. Every check costs as much as one of the dearest hash that is stored; so does null. */
  verify(password: string, hash: string | null, place: Place): Promise<boolean>
  /** Another hash of a password that matched, where the setting says others than the hash has, and not too many wait. */
  renew(password: string, hash: string, place: Place): Promise<string | undefined>
}

/** Counts failed sign-ins of people by hour and cause. */
export interface FailureCounts {
  /** It is stored some seconds later, so that no answer waits for it, or takes longer for a user who is there. */
  note(userId: string, cause: FailureCause): void
}

export type FailureCause = 'password-wrong' | 'code-wrong' | 'passkey-refused' | 'user-not-active' | 'throttled'

/** Notes what came to the endpoints of sign-in for applications. It is stored within seconds, and no answer waits for it. */
export interface Arrivals {
  step(clientId: string, step: Step): void
  /** `address`: the sender's. */
  refuse(refusal: Refusal, address: string): void
}

/** How far a sign-in to an application gets. */
export type Step = 'request' | 'sign-in' | 'consent' | 'redeemed' | 'userinfo' | 'refresh' | 'sign-out'

/** A request that was refused to an application. It names no person, and has no secret. */
export interface Refusal {
  clientId: string
  cause: RefusalCause
  /** Its name on the wire. */
  parameter: string
  sent: string
  allowed: readonly string[]
  description: string
}

export type RefusalCause = 'redirect-uri' | 'parameter' | 'person' | 'client' | 'grant' | 'sign-out' | 'provider'

/** Notes when applications last proved who they are by which secret. */
export interface SecretUses {
  /** The use is stored some seconds later, so that no answer waits for it. */
  note(applicationId: string, secretId: string): void
}

/** Notes when machines last used which of their credentials. */
export interface CredentialUses {
  /** The use is stored some seconds later, so that no answer waits for it. */
  note(use: CredentialUse): void
}

export interface CredentialUse {
  credentialId: string
  kind: 'pat' | 'key' | 'secret'
  userId: string
  organizationId: string
  expiresAt?: string | Date | null | undefined
}

/** The keys that access tokens are signed with. */
export interface SigningKeys extends PublishedKeys {
  /** A JWT of the type `at+jwt` with these claims. */
  sign(claims: JWTPayload): Promise<string>
  /** A JWS of the type `roster-receipt+jwt`, which no receiver of access tokens takes. */
  signReceipt(content: object): string
}

/** The keys that ID tokens are signed with: one signs for each algorithm. */
export interface IdTokenKeys extends PublishedKeys {
  /** A JWT of this type with these claims. */
  sign(algorithm: string, type: string, claims: JWTPayload): Promise<string>
  /** The public half of a key, also of one that is not published any more. UNAVAILABLE STORE_UNAVAILABLE. */
  find(kid: string): Promise<(JWK & { alg: string }) | undefined>
}

interface PublishedKeys {
  /** The public keys of all living tokens, and the next ones. */
  published(): SigningKey[]
  /** Reads what other replicas did, and makes the next keys when it is time. */
  refresh(): Promise<void>
  stop(): void
}
