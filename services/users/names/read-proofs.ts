import { orUnavailable, type Sql, type Transaction } from '#lib/database/database'
import { isEncrypted } from '#lib/encryption/encrypted-fields'
import type { Personal } from '#lib/encryption/personal'
import { eventColumns } from '#lib/eventstore/event-page'
import type { StoredEvent } from '#lib/events/stored-event'
import type { Context } from '../context.ts'
import { canonicalAddress } from '../email/address.ts'
import type { Human } from '../vocabulary/human.ts'
import { type Proof, type ProvedAddress, provedAddresses, type Telling, tellingTypes } from './proved-addresses.ts'

/** Reads from a person's events which addresses name the person now. UNAVAILABLE STORE_UNAVAILABLE. */
export async function readProvedAddresses(
  sql: Sql | Transaction,
  personal: Pick<Personal, 'decryptEvents'>,
  userId: string,
): Promise<ProvedAddress[]> {
  const rows = await orUnavailable(sql<StoredEvent[]>`
    select ${eventColumns(sql)} from events
    where aggregate_type = 'user' and aggregate_id = ${userId} and type = any(${[...tellingTypes]}::text[])
    order by events.sequence
  `)
  const events = await orUnavailable(personal.decryptEvents(sql, rows))
  // Nobody can sign in as somebody whom no key decrypts.
  return events.some((event) => isEncrypted(event) || event.erased) ? [] : provedAddresses(events as Telling[])
}

/** What proves the present address of a person. UNAVAILABLE STORE_UNAVAILABLE. */
export async function readProof(
  { sql, personal }: Pick<Context, 'sql' | 'personal'>,
  userId: string,
  human: Pick<Human, 'email' | 'isVerified'> | undefined,
): Promise<Proof | 'none'> {
  if (!human?.isVerified) return 'none'
  const proved = await readProvedAddresses(sql, personal, userId)
  return proved.find(({ address }) => address === canonicalAddress(human.email))?.proof ?? 'organization'
}

/** Whether a person's address is verified for whoever trusts this organization, such as the owner of a project. */
export async function isVerifiedFor(
  context: Pick<Context, 'sql' | 'personal'>,
  user: { id: string; organizationId: string },
  human: Pick<Human, 'email' | 'isVerified'>,
  organizationId: string,
): Promise<boolean> {
  if (!human.isVerified || user.organizationId === organizationId) return human.isVerified
  return (await readProof(context, user.id, human)) !== 'organization'
}
