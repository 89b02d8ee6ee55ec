import { timingSafeEqual } from 'node:crypto'
import { RosterError } from '#lib/errors'
import type { Aggregate, Existing } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import { orUnavailable, type Sql, type Write } from '#lib/database/database'
import type { Store } from '#lib/eventstore/store'
import type { Used } from './credential-uses.ts'
import { hashToken, newToken } from '../tokens/token.ts'
import {
  type Credential,
  type CredentialKind,
  type Credentials,
  living,
  type MachineKey,
} from '../events/credentials.ts'
import { credentialsOf, machineCredentials, type User, type UserEvent } from '../events/user.ts'
import { userNotFound } from '../events/user-not-found.ts'

/** The living key of a machine with this id; undefined where there is none. */
export function findKey(user: User | undefined, keyId: string, now: Date): MachineKey | undefined {
  return living(credentialsOf(user).key, now).find(({ id }) => id === keyId)
}

/**
 * The living secret of a machine that was presented; undefined where none matches. An unknown user takes as long to
 * answer. UNAVAILABLE STORE_UNAVAILABLE without a database.
 */
export async function findSecret(
  sql: Sql,
  user: User | undefined,
  presented: string,
  now: Date,
): Promise<Credential | undefined> {
  const secrets = living(credentialsOf(user).secret, now)
  const ids = secrets.map(({ id }) => id)
  if (ids.length === 0 || ids.some((id) => !hashes.has(id))) await learnHashes(sql, ids)
  const hash = hashToken(presented)
  return secrets.filter(({ id }) => timingSafeEqual(hashes.get(id) ?? hashOfNoSecret, hash))[0]
}

// A secret's id always has the same hash, so hashes may be kept. Which ids live is read from the user each time.
const hashes = new Map<string, Buffer>()
const mostHashes = 20_000
const hashOfNoSecret = hashToken(newToken())

async function learnHashes(sql: Sql, ids: string[]): Promise<void> {
  const rows = await orUnavailable(sql<{ id: string; hash: Buffer }[]>`
    select id, hash from machine_secrets where id = any(${ids}::text[])
  `)
  if (hashes.size >= mostHashes) hashes.clear()
  for (const { id, hash } of rows) hashes.set(id, hash)
}

/** Stores a secret of a machine by its hash alone. */
export function storeSecret(secret: string, row: { id: string; userId: string; expiresAt: Date | null }): Write {
  return (sql) => sql`
    insert into machine_secrets (id, user_id, hash, expires_at)
    values (${row.id}, ${row.userId}, ${hashToken(secret)}, ${row.expiresAt})
  `
}

/** A machine with its living credentials of a kind, oldest first. Throws as `machineCredentials` does. */
export async function loadCredentials<Kind extends CredentialKind>(
  store: Store,
  userId: string,
  kind: Kind,
): Promise<{ user: Existing<User>; credentials: Credentials[Kind] }> {
  const user = await store.load<User>('user', userId)
  if (!user) throw userNotFound()
  const all: Credential[] = machineCredentials(user.state)[kind]
  return { user, credentials: living(all, user.readAt) as Credentials[Kind] }
}

/** A machine with one of its living credentials. NOT_FOUND CREDENTIAL_NOT_FOUND; throws as `machineCredentials` does. */
export async function loadCredential<Kind extends CredentialKind>(
  store: Store,
  userId: string,
  kind: Kind,
  id: string,
): Promise<{ user: Existing<User>; credential: Credentials[Kind][number] }> {
  const { user, credentials } = await loadCredentials(store, userId, kind)
  const credential = credentials.find((living: Credential) => living.id === id)
  if (!credential) throw credentialNotFound()
  return { user, credential }
}

/** When a credential began, when it ends and when it was last used, in the form of answers. */
export function datesOf({ createdAt, expiresAt, usedAt }: Credential & Used): {
  creationDate: Date
  expirationDate?: Date
  lastUseDate: Date | undefined
} {
  return {
    creationDate: new Date(createdAt),
    ...(expiresAt !== undefined && { expirationDate: new Date(expiresAt) }),
    lastUseDate: usedAt,
  }
}

/** The decision that removes a credential. NOT_FOUND CREDENTIAL_NOT_FOUND; throws as `machineCredentials` does. */
export function removal(kind: CredentialKind, id: string, removed: UserEvent) {
  return ({ state }: Aggregate<User>, now: Date): Decision<UserEvent> => {
    const all: Credential[] = machineCredentials(state)[kind]
    if (!living(all, now).some((credential) => credential.id === id)) throw credentialNotFound()
    return { events: [removed], answer: undefined }
  }
}

/** The events that remove all living secrets of a machine. Throws as `machineCredentials` does. */
export function removedSecrets(user: User | undefined, now: Date): UserEvent[] {
  return living(machineCredentials(user).secret, now).map(({ id }) => ({
    type: 'secret.removed',
    payload: { secretId: id },
  }))
}

export function credentialNotFound(): RosterError {
  return new RosterError('NOT_FOUND', 'CREDENTIAL_NOT_FOUND', 'The machine has no such credential.')
}
