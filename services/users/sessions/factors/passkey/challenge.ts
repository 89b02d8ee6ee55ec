import { createHash, randomBytes } from 'node:crypto'
import type { Keyring } from '#lib/encryption/keys'
import type { UniqueKey } from '#lib/eventstore/command'
import { singleUse } from '../../../directory/secrets/single-use.ts'
import type { Binding } from '../binding.ts'
import { makeSecret, readSecret } from '../../../directory/secrets/secret.ts'

/** Seconds. */
export const challengeLifetime = 300

/** What a challenge remembers beside its binding. */
export interface Remembered {
  /** The authenticator is to make sure of the person. */
  verifies: boolean
  /** Of a registration: what the authenticator is to know the user by. */
  userHandle?: string
}

/**
 * A challenge: a text that carries its end, and is derived with the salt that ends all one-time secrets. It is stored
 * nowhere before it is used, so whoever asks for pages fills nothing.
 */
export function makeChallenge(
  keys: Keyring,
  binding: Binding,
  { verifies, userHandle = '' }: Remembered,
  now: Date,
): string {
  const end = Math.floor(now.getTime() / 1000) + challengeLifetime
  const nonce = randomBytes(16).toString('base64url')
  return makeSecret(keys, 'passkey', [nonce, String(end), verifies ? 'uv' : '', userHandle, boundTo(binding)])
}

export interface KnownChallenge extends Remembered {
  /** It is used up by this. */
  once: UniqueKey
}

/** What a challenge says that was made for this. Undefined: it is none, or its time is over. */
export function readChallenge(keys: Keyring, binding: Binding, text: string, now: Date): KnownChallenge | undefined {
  const [nonce = '', end = '', verifies, userHandle = '', bound] = readSecret(keys, 'passkey', text) ?? []
  if (bound !== boundTo(binding) || Number(end) * 1000 < now.getTime()) return undefined
  return { verifies: verifies === 'uv', userHandle, once: singleUse('passkey_challenge', nonce, Number(end)) }
}

// The browser that shows a challenge reads it, and need not know the ids of what it stands for.
function boundTo(binding: Binding): string {
  const parts = Object.entries(binding).toSorted(([one], [other]) => (one < other ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}
