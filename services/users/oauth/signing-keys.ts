import { createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK, SignJWT } from 'jose'
import type { SigningKey } from '#gen/roster/users/v1/signing_key'
import { orUnavailable, type Sql, type Transaction } from '#lib/database/database'
import { reEncrypt } from '#lib/encryption/re-encrypt'
import type { Keyring } from '#lib/encryption/keys'
import type { Log } from '#lib/log'
import { type Config, longestAccessToken } from '../config.ts'
import type { SigningKeys } from '../context.ts'
import { receiptType, signNow } from './sign-now.ts'

const lock = 7_265_004
const refreshEvery = 60_000
const encryptedFor = 'signing-key'
/** Seconds that a key is published before it signs: longer than anybody caches the list of keys. */
const ahead = 3600
/**
 * Seconds that a key stays published after the next one signs: the life of its last token, and the delay of replicas.
 */
const after = longestAccessToken + 3600

interface Row {
  kid: string
  algorithm: string
  publicKey: SigningKey
  privateKey: Buffer
  /** Whether the key's time to sign has come. */
  signs: boolean
  /** Whether the key has signed so long that the next one must be made. */
  old: boolean
}

/** Opens the keys. Of several replicas that start at once, one makes the first key. */
export async function openSigningKeys(sql: Sql, keys: Keyring, config: Config, log: Log): Promise<SigningKeys> {
  let rows: Row[] = []
  let signer: { row: Row; key: CryptoKey; own: KeyObject } | undefined

  async function refresh() {
    rows = await load(sql, config)
    if (isDue(rows)) {
      await sql.begin(async (transaction) => {
        await transaction`select pg_advisory_xact_lock(hashtextextended(current_schema(), ${lock}))`
        rows = await load(transaction, config)
        if (isDue(rows)) await add(transaction, rows.some(canOpen) ? ahead : 0)
        await deleteOld(transaction)
      })
      rows = await load(sql, config)
    }
    const current = rows.findLast((row) => row.signs && canOpen(row))
    if (!current) throw new Error('there is no key to sign access tokens with')
    if (signer?.row.kid === current.kid) return
    const own = JSON.parse(keys.decrypt(encryptedFor, current.privateKey)) as JWK & JsonWebKey
    const key = await importJWK(own, current.algorithm)
    signer = { row: current, key: key as CryptoKey, own: createPrivateKey({ format: 'jwk', key: own }) }
  }

  // An encryption key may be lost, or replicas may have different ones. Each replica goes on with the keys that it can
  // open.
  function canOpen({ kid, privateKey }: Row) {
    try {
      return keys.decrypt(encryptedFor, privateKey) !== ''
    } catch (error) {
      log.error({ err: error, kid }, 'a signing key cannot be decrypted')
      return false
    }
  }

  function isDue(known: Row[]) {
    const last = known.findLast(canOpen)
    return !last || (last.signs && (last.old || last.algorithm !== config.ACCESS_TOKEN_ALGORITHM))
  }

  async function add(transaction: Transaction, seconds: number) {
    const algorithm = config.ACCESS_TOKEN_ALGORITHM
    const pair = await generateKeyPair(algorithm, { extractable: true })
    const [publicKey, privateKey] = await Promise.all([exportJWK(pair.publicKey), exportJWK(pair.privateKey)])
    const kid = await calculateJwkThumbprint(publicKey)
    const encrypted = keys.encrypt(encryptedFor, JSON.stringify(privateKey))
    const published = { ...publicKey, use: 'sig', alg: algorithm, kid }
    await transaction`
      insert into signing_keys (kid, algorithm, public_key, private_key, signs_from)
      values (${kid}, ${algorithm}, ${JSON.stringify(published)}::text::jsonb, ${encrypted},
        roster_now() + make_interval(secs => ${seconds}))
    `
    log.info({ kid, algorithm, seconds }, 'made a key that will sign access tokens')
  }

  await reEncrypt(sql, keys, log, { purpose: encryptedFor, table: 'signing_keys', column: 'private_key' })
  await refresh()
  const timer = setInterval(
    () => refresh().catch((error: unknown) => log.warn({ err: error }, 'the look for signing keys failed')),
    refreshEvery,
  )
  return {
    sign(claims) {
      const { row, key } = signer!
      return new SignJWT(claims).setProtectedHeader({ alg: row.algorithm, kid: row.kid, typ: 'at+jwt' }).sign(key)
    },
    signReceipt(content) {
      const { row, own } = signer!
      return signNow({ alg: row.algorithm, kid: row.kid, typ: receiptType }, content, own)
    },
    published: () => rows.map(({ publicKey }) => publicKey),
    refresh,
    stop: () => clearInterval(timer),
  }
}

function load(sql: Sql | Transaction, config: Config): Promise<Row[]> {
  const age = config.SIGNING_KEY_ROTATION * 86_400 - ahead
  return orUnavailable(sql<Row[]>`
    select kid, algorithm, public_key as "publicKey", private_key as "privateKey", signs_from <= roster_now() as signs,
      signs_from <= roster_now() - make_interval(secs => ${age}) as old
    from signing_keys order by signs_from, kid
  `)
}

async function deleteOld(sql: Transaction) {
  await sql`
    delete from signing_keys where kid in (
      select kid from (select kid, lead(signs_from) over (order by signs_from, kid) as until from signing_keys) k
      where until < roster_now() - make_interval(secs => ${after})
    )
  `
}
