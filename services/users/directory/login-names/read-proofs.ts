import { orUnavailable, type Sql, type Transaction } from '#lib/database/database'
import { isEncrypted } from '#lib/encryption/encrypted-fields'
import { eventColumns } from '#lib/eventstore/event-page'
import type { Personal } from '#lib/encryption/personal'
import type { StoredEvent } from '#lib/events/stored-event'
import type { Context } from '../../context.ts'
import { canonicalAddress } from '../email/address.ts'
import type { Human } from '../events/human.ts'
import { domainOfAddress, isVerifiedDomain } from '../organizations/verified-domains.ts'
import {
  type Proofs,
  loginAddressKind,
  noProofs,
  type Proof,
  type ProvedAddress,
  type Telling,
  tellingTypes,
  withTelling,
} from './proved-addresses.ts'

/** What a history said up to its event of this place. Of addresses, it has the keyed hashes. */
interface Reading {
  sequence: string
  position: string
  proofs: Proofs
}

/** By the user, what was read of long histories, so that none is read again for each change. The last used stay. */
const readings = new WeakMap<object, Map<string, Reading>>()
const remembered = 1000
const remembersFrom = 20

/** Reads from a person's events which addresses name the person now. UNAVAILABLE STORE_UNAVAILABLE. */
export async function readProvedAddresses(
  sql: Sql | Transaction,
  personal: Pick<Personal, 'decryptEvents' | 'storedKey'>,
  userId: string,
): Promise<ProvedAddress[]> {
  const read = async (from: string) => {
    const rows = await orUnavailable(sql<StoredEvent[]>`
      select ${eventColumns(sql)} from events
      where aggregate_type = 'user' and aggregate_id = ${userId} and sequence >= ${from}
      and type = any(${[...tellingTypes]}::text[])
      order by events.sequence
    `)
    return orUnavailable(personal.decryptEvents(sql, rows))
  }
  // The last event of the reading is read again: who was erased since then has no key, and PostgreSQL may be set back.
  const known = readings.get(personal) ?? new Map<string, Reading>()
  readings.set(personal, known)
  const before = known.get(userId)
  let events = before ? await read(before.sequence) : []
  const base = before && before.position === events[0]?.position ? before : undefined
  if (!base) events = await read('0')
  known.delete(userId)
  // No one can sign in as a user that no key decrypts.
  if (events.some((event) => isEncrypted(event) || event.erased)) return []
  const proofs = (events.slice(base ? 1 : 0) as Telling[]).reduce(
    (proofs, event) => withTelling(proofs, event, (email) => addressKey(personal, email)),
    base?.proofs ?? noProofs,
  )
  if (base || events.length >= remembersFrom) {
    const { sequence, position } = events.at(-1)!
    known.set(userId, { sequence, position, proofs })
    if (known.size > remembered) known.delete(known.keys().next().value!)
  }
  return proofs.proved
}

/** An address as it is stored and compared where it names people: a keyed hash of its canonical form. */
export function addressKey(personal: Pick<Personal, 'storedKey'>, email: string): string {
  return personal.storedKey(loginAddressKind, canonicalAddress(email))
}

/** What proves the present address of a person. UNAVAILABLE STORE_UNAVAILABLE. */
export async function readProof(
  context: Pick<Context, 'sql' | 'personal'>,
  userId: string,
  human: Pick<Human, 'email' | 'isVerified'> | undefined,
): Promise<Proof | 'none'> {
  if (!human?.isVerified) return 'none'
  const proved = await readProvedAddresses(context.sql, context.personal, userId)
  return proved.find(({ address }) => address === addressKey(context.personal, human.email))?.proof ?? 'organization'
}

/** Whether a person's address is verified for those who trust this organization, such as the owner of a project. */
export async function isVerifiedFor(
  context: Pick<Context, 'sql' | 'personal'>,
  user: { id: string; organizationId: string },
  human: Pick<Human, 'email' | 'isVerified'>,
  organizationId: string,
): Promise<boolean> {
  if (!human.isVerified || user.organizationId === organizationId) return human.isVerified
  return isProvedAddress(context, user, human)
}

/**
 * Whether the present address of a person is proved. The word of the organization is a proof for as long as the domain is
 * verified for it, also a word from before: no event says so, and none has to be taken back.
 */
export async function isProvedAddress(
  context: Pick<Context, 'sql' | 'personal'>,
  user: { id: string; organizationId: string },
  human: Pick<Human, 'email' | 'isVerified'>,
): Promise<boolean> {
  const proof = await readProof(context, user.id, human)
  if (proof !== 'organization') return proof !== 'none'
  return isVerifiedDomain(context.sql, user.organizationId, domainOfAddress(human.email))
}
