import { type JWK, SignJWT } from 'jose'
import { orUnavailable, type Sql } from '#lib/database/database'
import type { Keyring } from '#lib/encryption/keys'
import type { Log } from '#lib/log'
import type { Config } from '../../../config.ts'
import type { IdTokenKeys } from '../../../context.ts'
import { openRotatingKeys } from './rotating-keys.ts'

/** The algorithms of ID tokens, the default first. */
export const idTokenAlgorithms = ['RS256', 'ES256', 'EdDSA', 'PS256'] as const

/** Seconds. */
export const idTokenLifetime = 3600

/**
 * Opens the keys that sign ID tokens, and rotates them. They are none of those that access tokens are checked by. The
 * public halves are kept for 400 days more: until then an ID token is a hint who was signed in.
 */
export async function openIdTokenKeys(sql: Sql, keys: Keyring, config: Config, log: Log): Promise<IdTokenKeys> {
  const table = 'id_token_keys'
  const rotating = await openRotatingKeys(sql, keys, config, log, {
    table,
    lock: 7_265_005,
    encryptedFor: 'id-token-key',
    signs: 'ID tokens',
    algorithms: [...idTokenAlgorithms],
    mayChange: false,
    listedFor: idTokenLifetime + 3600,
    keptFor: 400 * 86_400,
  })
  return {
    ...rotating,
    // jose imports a key once for each object.
    sign(algorithm, typ, claims) {
      const { kid, privateKey } = rotating.signer(algorithm)
      return new SignJWT(claims).setProtectedHeader({ alg: algorithm, kid, typ }).sign(privateKey)
    },
    async find(kid) {
      const [row] = await orUnavailable(sql<{ publicKey: JWK & { alg: string } }[]>`
        select public_key as "publicKey" from ${sql(table)} where kid = ${kid}
      `)
      return row?.publicKey
    },
  }
}
