import { createPrivateKey, type KeyObject } from 'node:crypto'
import { type CryptoKey, importJWK, SignJWT } from 'jose'
import type { Sql } from '#lib/database/database'
import type { Keyring } from '#lib/encryption/keys'
import type { Log } from '#lib/log'
import { type Config, longestAccessToken } from '../../../config.ts'
import type { SigningKeys } from '../../../context.ts'
import { openRotatingKeys } from './rotating-keys.ts'
import { receiptType, signNow } from './sign-now.ts'

/** Opens the keys that sign access tokens, and rotates them. */
export async function openSigningKeys(sql: Sql, keys: Keyring, config: Config, log: Log): Promise<SigningKeys> {
  const algorithm = config.ACCESS_TOKEN_ALGORITHM
  const rotating = await openRotatingKeys(sql, keys, config, log, {
    table: 'signing_keys',
    lock: 7_265_004,
    encryptedFor: 'signing-key',
    signs: 'access tokens',
    algorithms: [algorithm],
    mayChange: true,
    listedFor: longestAccessToken + 3600,
    keptFor: 0,
  })
  let opened: { kid: string; key: Promise<CryptoKey>; own: KeyObject } | undefined

  function open() {
    const { kid, algorithm: alg, privateKey } = rotating.signer(algorithm)
    if (opened?.kid !== kid) {
      const own = createPrivateKey({ format: 'jwk', key: privateKey })
      opened = { kid, key: importJWK(privateKey, alg) as Promise<CryptoKey>, own }
    }
    return { ...opened, alg }
  }

  return {
    ...rotating,
    async sign(claims) {
      const { kid, alg, key } = open()
      return new SignJWT(claims).setProtectedHeader({ alg, kid, typ: 'at+jwt' }).sign(await key)
    },
    signReceipt(content) {
      const { kid, alg, own } = open()
      return signNow({ alg, kid, typ: receiptType }, content, own)
    },
  }
}
