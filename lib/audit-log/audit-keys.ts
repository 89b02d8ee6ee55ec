import type { Keyring } from '../encryption/keys.ts'
import type { Log } from '../log.ts'
import type { Transaction } from '../database/database.ts'
import { makeAuditKey } from './checkpoint.ts'

/** For `reEncrypt`: where the private halves lie. */
export const encryptedAuditKeys = { purpose: 'audit-key', table: 'audit_keys', column: 'private_key' }

/** Days after which the next key signs. */
const rotateAfter = 90

/** A key that can sign. */
export interface Signer {
  kid: string
  secret: string
  /** Set where this is the last checkpoint that the key signs. */
  nextKid: string | undefined
}

/**
 * The key that signs the next checkpoint. Where it has served its time, the next one is made, and this one can sign no
 * more after this transaction. Where no key can be decrypted, makes one that no former key vouches for, and says so.
 */
export async function takeSigner(transaction: Transaction, keys: Keyring, log: Log): Promise<Signer> {
  const rows = await transaction<{ kid: string; encrypted: Buffer; isOld: boolean }[]>`
    select kid, private_key as encrypted, created_at < roster_now() - make_interval(days => ${rotateAfter}) as "isOld"
    from audit_keys where private_key is not null order by created_at desc, kid
  `
  for (const { kid, encrypted, isOld } of rows) {
    let secret: string
    try {
      secret = keys.decrypt(encryptedAuditKeys.purpose, encrypted)
    } catch (error) {
      log.error({ err: error, kid }, 'a key that signs checkpoints cannot be decrypted')
      continue
    }
    if (!isOld) return { kid, secret, nextKid: undefined }
    const next = await addKey(transaction, keys)
    await transaction`update audit_keys set private_key = null where kid = ${kid}`
    return { kid, secret, nextKid: next.kid }
  }
  const { kid, secret } = await addKey(transaction, keys)
  log.info({ kid }, 'made a key that signs checkpoints')
  return { kid, secret, nextKid: undefined }
}

async function addKey(transaction: Transaction, keys: Keyring): Promise<{ kid: string; secret: string }> {
  const { key, secret } = makeAuditKey()
  const encrypted = keys.encrypt(encryptedAuditKeys.purpose, secret)
  await transaction`
    insert into audit_keys (kid, public_key, private_key, created_at)
    values (${key.kid}, ${JSON.stringify(key)}::text::jsonb, ${encrypted}, roster_moment())
  `
  return { kid: key.kid, secret }
}
