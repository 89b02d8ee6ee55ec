import { createCipheriv, createDecipheriv, type KeyObject, randomFillSync } from 'node:crypto'

/** The name under which a payload or a state holds its sealed part. No field of proto/ can have it. */
export const sealedAs = '$sealed'

const nonceLength = 12
const authTagLength = 16

/** Encrypts with AES-256-GCM, bound to its place `about`. Gives nonce, tag and text in base64. */
export function sealText(key: KeyObject, plain: string, about: string): string {
  const nonce = nextNonce()
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength })
  cipher.setAAD(Buffer.from(about))
  const body = cipher.update(plain, 'utf8')
  cipher.final()
  return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64')
}

/** Decrypts what `sealText` gave. Throws where it was changed, or belongs to another place or key. */
export function openText(key: KeyObject, sealed: string, about: string): string {
  const bytes = Buffer.from(sealed, 'base64')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, nonceLength), { authTagLength })
  decipher.setAAD(Buffer.from(about))
  decipher.setAuthTag(bytes.subarray(nonceLength, nonceLength + authTagLength))
  return decipher.update(bytes.subarray(nonceLength + authTagLength), undefined, 'utf8') + decipher.final('utf8')
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
