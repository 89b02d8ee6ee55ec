import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose'
import type { SigningKey } from '#gen/roster/users/v1/signing_key'
import type { Sql, Transaction } from '#lib/database/database'
import type { Keyring } from '#lib/encryption/keys'
import { reEncrypt } from '#lib/encryption/re-encrypt'
import type { Log } from '#lib/log'
import type { Config } from '../../../config.ts'
import { deleteOldKeys, type KeyRow, type KeyUse, loadKeys } from './key-rows.ts'

/** The key that signs now. */
export interface Signer {
  kid: string
  algorithm: string
  privateKey: JWK
}

export interface RotatingKeys {
  /** For one of the algorithms; where they may change, that of the key whose turn it is. */
  signer(algorithm: string): Signer
  /** The public keys of all living tokens, and the next ones. */
  published(): SigningKey[]
  /** Reads what other replicas did, and makes the next keys when it is time. */
  refresh(): Promise<void>
  stop(): void
}

const refreshEvery = 60_000
/** Seconds that a key is published before it signs: longer than clients cache the list of keys. */
const ahead = 3600

/** Opens keys that sign, and rotates them. Of several replicas that start at once, one makes the first keys. */
export async function openRotatingKeys(
  sql: Sql,
  keys: Keyring,
  { SIGNING_KEY_ROTATION }: Pick<Config, 'SIGNING_KEY_ROTATION'>,
  log: Log,
  use: KeyUse,
): Promise<RotatingKeys> {
  const { table, encryptedFor, algorithms, mayChange } = use
  const load = (transaction?: Transaction) => loadKeys(transaction ?? sql, table, SIGNING_KEY_ROTATION * 86_400 - ahead)
  let rows: KeyRow[] = []
  let signers = new Map<string, Signer>()

  async function refresh() {
    rows = await load()
    if (algorithms.some(isDue)) {
      await sql.begin(async (transaction) => {
        await transaction`select pg_advisory_xact_lock(hashtextextended(current_schema(), ${use.lock}))`
        rows = await load(transaction)
        for (const algorithm of algorithms.filter(isDue)) await add(transaction, algorithm)
        await deleteOldKeys(transaction, use)
      })
      rows = await load()
    }
    signers = new Map(algorithms.map((algorithm) => [algorithm, signerOf(algorithm)]))
  }

  function signerOf(algorithm: string): Signer {
    const current = line(algorithm).findLast((row) => row.signs && canOpen(row))
    if (!current) throw new Error(`there is no key to sign ${use.signs} with`)
    const former = signers.get(algorithm)
    if (former?.kid === current.kid) return former
    const privateKey = JSON.parse(keys.decrypt(encryptedFor, current.privateKey)) as JWK
    return { kid: current.kid, algorithm: current.algorithm, privateKey }
  }

  // The keys of which one signs at a time.
  const line = (algorithm: string) => rows.filter((row) => mayChange || row.algorithm === algorithm)

  function isDue(algorithm: string): boolean {
    const last = line(algorithm).findLast(canOpen)
    return !last || (last.signs && (last.old || last.algorithm !== algorithm))
  }

  // An encryption key may be lost, or replicas may have different ones. Each replica goes on with the keys that it can
  // open.
  function canOpen({ kid, privateKey }: KeyRow) {
    try {
      return keys.decrypt(encryptedFor, privateKey) !== ''
    } catch (error) {
      log.error({ err: error, kid }, 'a signing key cannot be decrypted')
      return false
    }
  }

  async function add(transaction: Transaction, algorithm: string) {
    const seconds = line(algorithm).some(canOpen) ? ahead : 0
    const pair = await generateKeyPair(algorithm, { extractable: true })
    const [publicKey, privateKey] = await Promise.all([exportJWK(pair.publicKey), exportJWK(pair.privateKey)])
    const kid = await calculateJwkThumbprint(publicKey)
    const encrypted = keys.encrypt(encryptedFor, JSON.stringify(privateKey))
    const published = { ...publicKey, use: 'sig', alg: algorithm, kid }
    await transaction`
      insert into ${transaction(table)} (kid, algorithm, public_key, private_key, signs_from)
      values (${kid}, ${algorithm}, ${JSON.stringify(published)}::text::jsonb, ${encrypted},
        roster_now() + make_interval(secs => ${seconds}))
    `
    log.info({ kid, algorithm, seconds }, `made a key that will sign ${use.signs}`)
  }

  await reEncrypt(sql, keys, log, { purpose: encryptedFor, table, column: 'private_key' })
  await refresh()
  const timer = setInterval(
    () => refresh().catch((error: unknown) => log.warn({ err: error }, `the look for keys of ${use.signs} failed`)),
    refreshEvery,
  )
  return {
    signer: (algorithm) => signers.get(algorithm)!,
    published: () => rows.map(({ publicKey }) => publicKey),
    refresh,
    stop: () => clearInterval(timer),
  }
}
