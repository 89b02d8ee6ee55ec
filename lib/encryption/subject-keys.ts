import { createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { Keyring } from './keys.ts'
import { makeRoom } from './encrypted-text.ts'

/** What the service's encryption key wraps the keys of people for. */
export const wrappedFor = 'personal'

/** Enough for the people who are at work at the same time. */
const mostKnown = 20_000

/** A key of a person, and the same one wrapped by the service's encryption key. */
export interface SubjectKey {
  key: KeyObject
  wrapped: Buffer
}

/** Makes keys of people, and unwraps them. */
export interface SubjectKeys {
  make(count: number): SubjectKey[]
  /** Unwraps a key as PostgreSQL writes it: `\x` and digits. Throws where the encryption key is not known. */
  unwrap(text: string): KeyObject
}

/**
 * Remembers unwrapped keys by their wrapped form. Whether a person still has a key is for the database to say, so
 * nothing here can be out of date.
 */
export function createSubjectKeys(keys: Pick<Keyring, 'encrypt' | 'decrypt'>): SubjectKeys {
  const known = new Map<string, KeyObject>()

  function remember(text: string, key: KeyObject): KeyObject {
    makeRoom(known, mostKnown)
    known.set(text, key)
    return key
  }

  return {
    make(count) {
      const bytes = randomBytes(count * 32)
      return Array.from({ length: count }, (_, index) => {
        const own = bytes.subarray(index * 32, index * 32 + 32)
        const [key, wrapped] = [createSecretKey(own), keys.encrypt(wrappedFor, own.toString('base64'))]
        // The outbox asks for it soon.
        remember(`\\x${wrapped.toString('hex')}`, key)
        return { key, wrapped }
      })
    },
    unwrap(text) {
      const own = known.get(text)
      if (own) return own
      const opened = keys.decrypt(wrappedFor, Buffer.from(text.slice(2), 'hex'))
      return remember(text, createSecretKey(Buffer.from(opened, 'base64')))
    },
  }
}
