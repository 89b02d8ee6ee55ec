import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto'
import type { Setting } from '../config/read-config.ts'

/** The encryption keys of a service. The first key encrypts; the other keys still decrypt older data. */
export interface Keyring {
  /** Id of the key in use. It reveals nothing about the key. */
  currentId: string
  /** HMAC-SHA256 of the parts, with a key that is derived for this purpose alone. Throws for an unknown key id. */
  mac(purpose: string, keyId: string, parts: string[]): Buffer
  /** Encrypts with AES-256-GCM, bound to the purpose. */
  encrypt(purpose: string, plain: string): Buffer
  /** Decrypts the output of `encrypt`. Throws where that was changed, or where its key is gone. */
  decrypt(purpose: string, encrypted: Buffer): string
}

// Without an explicit length, Node would also accept a shortened tag.
const authTagLength = 16

/**
 * `ROSTER_ENCRYPTION_KEY`: 32 bytes in base64. To change keys, list several separated by commas, the new key first. An
 * entry `id:purpose:key` replaces a former key by the key that `purposeKey` derived from it. Such an entry serves that
 * purpose alone.
 */
export const encryptionKey: Setting<Keyring> = {
  accepts: '32 bytes in base64, several separated by commas',
  read: (value) => createKeyring(value.split(',').map((text) => text.trim())),
}

/** Reads 32 bytes in base64. The error never shows the text. */
export function decodeKey(text: string): Buffer {
  const key = Buffer.from(text, 'base64')
  if (key.length !== 32) throw new Error('is not 32 bytes in base64 (make one with: openssl rand -base64 32)')
  return key
}

/** The id of a key: the same at every replica. It reveals nothing about the key. */
export function keyId(key: Buffer): string {
  return createHash('sha256').update('roster key id').update(key).digest().subarray(0, 4).toString('hex')
}

/** The key that replaces another key for one purpose. */
export function purposeKey(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `roster ${purpose}`, 32))
}

function createKeyring([first, ...others]: string[]): Keyring {
  const current = decodeKey(first!)
  const currentId = keyId(current)
  const keys = new Map([[currentId, current]])
  const derived = new Map<string, KeyObject>()
  for (const text of others) {
    const [, id, purpose, key] = /^([0-9a-f]{8}):([a-z-]+):(.*)$/.exec(text) ?? []
    if (id !== undefined) derived.set(`${id} ${purpose}`, createSecretKey(decodeKey(key!)))
    else keys.set(keyId(decodeKey(text)), decodeKey(text))
  }

  function keyFor(purpose: string, id: string): KeyObject {
    const name = `${id} ${purpose}`
    let key = derived.get(name)
    if (key) return key
    const master = keys.get(id)
    if (!master) throw new Error(`no encryption key has the id ${id}`)
    key = createSecretKey(purposeKey(master, purpose))
    derived.set(name, key)
    return key
  }

  return {
    currentId,
    mac: (purpose, id, parts) => createHmac('sha256', keyFor(purpose, id)).update(JSON.stringify(parts)).digest(),
    encrypt(purpose, plain) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', keyFor(purpose, currentId), nonce, { authTagLength })
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.from(currentId, 'hex'), nonce, cipher.getAuthTag(), body])
    },
    decrypt(purpose, encrypted) {
      const id = encrypted.subarray(0, 4).toString('hex')
      const decipher = createDecipheriv('aes-256-gcm', keyFor(purpose, id), encrypted.subarray(4, 16), {
        authTagLength,
      })
      decipher.setAuthTag(encrypted.subarray(16, 16 + authTagLength))
      return Buffer.concat([decipher.update(encrypted.subarray(16 + authTagLength)), decipher.final()]).toString('utf8')
    },
  }
}
