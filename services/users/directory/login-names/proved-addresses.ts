import type { StoredEvent } from '#lib/events/stored-event'
import type { HumanEvent } from '../events/human.ts'

/** The kind of the keyed hashes of addresses. No unique key has it. */
export const loginAddressKind = 'login_address'

/** The follower that keeps them. */
export const keeper = 'login-addresses'

/**
 * Who says that an address is a person's. `code`: the person entered a code that only the mailbox had. `instance`:
 * a user whose word counts everywhere. `organization`: a user whose word counts in the person's organization alone.
 */
export type Proof = 'code' | 'instance' | 'organization'

/** An address that names its person. */
export interface ProvedAddress {
  /** As `keyOf` gives it. */
  address: string
  proof: Proof
  /** The position of the event that proved it. */
  since: string
}

/** The types of the events that say something of a person's addresses. */
export const tellingTypes = [
  'human.added',
  'email.changed',
  'email.verified',
  'email.code.requested',
  'email.code.returned',
] as const

export type Telling = Extract<HumanEvent, { type: (typeof tellingTypes)[number] }> & Pick<StoredEvent, 'position'>

/** What the events so far say. */
export interface Proofs {
  /** The present address, as `keyOf` gives it. */
  present: string
  /** The code that can be entered, and what it is worth: a newer one replaces it. */
  code?: { id: string; proof: Proof }
  /** The addresses that name the person: at most one that is proved, and one by the word of the organization. */
  proved: ProvedAddress[]
}

export const noProofs: Proofs = { present: '', proved: [] }

/** What is proved after the next event. `keyOf`: the form in which an address is compared. */
export function withTelling(
  proofs: Proofs,
  { type, payload, position }: Telling,
  keyOf: (email: string) => string,
): Proofs {
  switch (type) {
    case 'human.added':
    case 'email.changed': {
      const present = keyOf(payload.email)
      const isByCode = 'codeId' in payload && payload.codeId !== undefined
      if (payload.isVerified)
        return prove({ ...proofs, present }, isByCode ? 'code' : (payload.vouchedOn ?? 'organization'), position)
      // Its verification was taken back.
      if (proofs.present === present)
        return { ...proofs, proved: proofs.proved.filter(({ address }) => address !== present) }
      return { ...proofs, present }
    }
    case 'email.code.requested':
    case 'email.code.returned': {
      // Who sees a code could enter it without having the mailbox. So it is worth the word of that one.
      const isSeen = type === 'email.code.returned' || payload.askedBy !== undefined
      return { ...proofs, code: { id: payload.codeId, proof: isSeen ? (payload.vouchedOn ?? 'organization') : 'code' } }
    }
    case 'email.verified': {
      const isOfCode = payload.codeId !== undefined && payload.codeId === proofs.code?.id
      return prove(proofs, isOfCode ? proofs.code!.proof : (payload.vouchedOn ?? 'organization'), position)
    }
  }
}

function prove(proofs: Proofs, proof: Proof, since: string): Proofs {
  return { ...proofs, proved: proven(proofs.proved, { address: proofs.present, proof, since }) }
}

// A former address names its person until the new one is proved. The word of the organization ends only what stands on
// such a word.
function proven(proved: ProvedAddress[], entry: ProvedAddress): ProvedAddress[] {
  const known = proved.find(({ address }) => address === entry.address)
  const kept = known && (isProved(known) || !isProved(entry)) ? known : entry
  return isProved(kept) ? [kept] : [...proved.filter(isProved), kept]
}

function isProved({ proof }: ProvedAddress): boolean {
  return isProof(proof)
}

/** Whether it counts everywhere. */
export function isProof(proof: Proof): boolean {
  return proof !== 'organization'
}
