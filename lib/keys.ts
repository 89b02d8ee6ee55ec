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
import type { Setting } from './config.ts'

/** The encryption keys of the installation: the first one is used, the others still open what they closed. */
export interface Keyring {
  /** Id of the key in use. It tells nothing of the key. */
  currentId: string
  /** HMAC-SHA256 of the parts under a key made for this purpose alone. Throws for an unknown key id. */
  mac(purpose: string, keyId: string, parts: string[]): Buffer
  /** Encrypts with AES-256-GCM, bound to the purpose. */
  seal(purpose: string, plain: string): Buffer
  /** Decrypts what `seal` made. Throws where it was changed, or its key is gone. */
  open(purpose: string, sealed: Buffer): string
}

// Said aloud, or a shortened tag would be taken too.
const authTagLength = 16

/** `ROSTER_ENCRYPTION_KEY`: 32 bytes in base64; several, separated by commas, to change keys: the new one first. */
export const encryptionKey: Setting<Keyring> = { read: (value) => createKeyring(value.split(',')) }

function createKeyring(texts: string[]): Keyring {
  const keys = new Map(texts.map((text) => decode(text.trim())).map((key) => [idOf(key), key]))
  const currentId = idOf(decode(texts[0]!.trim()))
  const derived = new Map<string, KeyObject>()

  function keyFor(purpose: string, keyId: string): KeyObject {
    const name = `${keyId} ${purpose}`
    let key = derived.get(name)
    if (key) return key
    const master = keys.get(keyId)
    if (!master) throw new Error(`no encryption key has the id ${keyId}`)
    key = createSecretKey(Buffer.from(hkdfSync('sha256', master, '', `roster ${purpose}`, 32)))
    derived.set(name, key)
    return key
  }

  return {
    currentId,
    mac: (purpose, keyId, parts) => createHmac('sha256', keyFor(purpose, keyId)).update(JSON.stringify(parts)).digest(),
    seal(purpose, plain) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', keyFor(purpose, currentId), nonce, { authTagLength })
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([Buffer.from(currentId, 'hex'), nonce, cipher.getAuthTag(), body])
    },
    open(purpose, sealed) {
      const keyId = sealed.subarray(0, 4).toString('hex')
      const decipher = createDecipheriv('aes-256-gcm', keyFor(purpose, keyId), sealed.subarray(4, 16), {
        authTagLength,
      })
      decipher.setAuthTag(sealed.subarray(16, 16 + authTagLength))
      return Buffer.concat([decipher.update(sealed.subarray(16 + authTagLength)), decipher.final()]).toString('utf8')
    },
  }
}

function decode(text: string): Buffer {
  const key = Buffer.from(text, 'base64')
  if (key.length !== 32) throw new Error('is not 32 bytes in base64 (make one with: openssl rand -base64 32)')
  return key
}

function idOf(key: Buffer): string {
  return createHash('sha256').update('roster key id').update(key).digest().subarray(0, 4).toString('hex')
}
