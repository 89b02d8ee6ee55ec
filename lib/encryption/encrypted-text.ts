import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from 'node:crypto'

/** The name under which a payload or a state holds its encrypted part. No field of proto/ can have it. */
export const encryptedAs = '$sealed'

const nonceLength = 12
const authTagLength = 16

/** Encrypts a value of JSON with AES-256-GCM, bound to its place `about`. Returns nonce, tag and text in base64. */
export function encryptJson(key: KeyObject, value: unknown, about: string): string {
  const plain = JSON.stringify(value)
  const nonce = nextNonce()
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength })
  cipher.setAAD(Buffer.from(about))
  const body = cipher.update(plain, 'utf8')
  cipher.final()
  const encrypted = Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64')
  remember(encrypted, { key, about, plain })
  return encrypted
}

/**
 * Decrypts what `encryptJson` gave. Throws where it was changed, or belongs to another place or key. Others may get the
 * same object, so do not change it.
 */
export function decryptJson(key: KeyObject, encrypted: string, about: string): unknown {
  let known = texts.get(encrypted)
  if (known?.key !== key || known.about !== about) {
    known = { key, about, plain: decrypt(key, encrypted, about) }
    remember(encrypted, known)
  }
  return (known.value ??= JSON.parse(known.plain))
}

function decrypt(key: KeyObject, encrypted: string, about: string): string {
  const bytes = Buffer.from(encrypted, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceLength), { authTagLength })
  decipher.setAAD(Buffer.from(about))
  decipher.setAuthTag(bytes.subarray(nonceLength, nonceLength + authTagLength))
  return decipher.update(bytes.subarray(nonceLength + authTagLength), undefined, 'utf8') + decipher.final('utf8')
}

interface Known {
  key: KeyObject
  about: string
  plain: string
  value?: unknown
}

// A call reads a user more than once, and the outbox decrypts what this process has just encrypted. To decrypt costs
// ten times as much as to find a text here. A caller without the very key and place finds nothing.
const texts = new Map<string, Known>()
const mostTexts = 4000
/** Characters of a text that is remembered. So many texts of any size would fill the memory. */
const longestText = 4 * 1024

function remember(encrypted: string, known: Known): void {
  if (encrypted.length > longestText) return
  makeRoom(texts, mostTexts)
  texts.set(encrypted, known)
}

// To ask for random bytes costs more than to encrypt, so many nonces are made at a time.
const pool = Buffer.alloc(nonceLength * 1024)
let used = pool.length

function nextNonce(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += nonceLength
  return pool.subarray(used - nonceLength, used)
}

/** Forgets the oldest entries of a full map, some at a time. */
export function makeRoom(map: Map<string, unknown>, most: number): void {
  if (map.size < most) return
  let surplus = Math.ceil(most / 10)
  for (const key of map.keys()) {
    map.delete(key)
    if (--surplus === 0) return
  }
}
