import type { StoredEvent } from '#lib/events/stored-event'
import { canonicalAddress } from '../email/address.ts'
import type { HumanEvent } from '../vocabulary/human.ts'

/** The kind of the keyed hashes of addresses. No unique key has it. */
export const loginAddressKind = 'login_address'

/** The follower that keeps them. */
export const keeper = 'login-addresses'

/**
 * Who says that an address is a person's. `code`: the person entered a code that only the mailbox had. `instance`:
 * somebody whose word counts everywhere. `organization`: somebody whose word counts in the person's organization alone.
 */
export type Proof = 'code' | 'instance' | 'organization'

/** An address that names its person. */
export interface ProvedAddress {
  /** In the form in which addresses are compared. */
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

/**
 * The addresses that name a person now, from all of these events in their order: at most one that is proved, and one by
 * the word of the organization.
 */
export function provedAddresses(events: Telling[]): ProvedAddress[] {
  let proved: ProvedAddress[] = []
  let present = ''
  const proofs = new Map<string, Proof>()
  const prove = (proof: Proof, since: string) => (proved = proven(proved, { address: present, proof, since }))
  for (const { type, payload, position } of events)
    switch (type) {
      case 'human.added':
      case 'email.changed': {
        const former = present
        present = canonicalAddress(payload.email)
        const isByCode = 'codeId' in payload && payload.codeId !== undefined
        if (payload.isVerified) prove(isByCode ? 'code' : (payload.vouchedOn ?? 'organization'), position)
        // Its verification was taken back.
        else if (former === present) proved = proved.filter(({ address }) => address !== present)
        break
      }
      case 'email.code.requested':
      case 'email.code.returned': {
        // Who sees a code could enter it without having the mailbox. So it is worth the word of that one.
        const isSeen = type === 'email.code.returned' || payload.askedBy !== undefined
        proofs.set(payload.codeId, isSeen ? (payload.vouchedOn ?? 'organization') : 'code')
        break
      }
      case 'email.verified': {
        const ofCode = payload.codeId === undefined ? undefined : proofs.get(payload.codeId)
        prove(ofCode ?? payload.vouchedOn ?? 'organization', position)
      }
    }
  return proved
}

// A former address names its person until the new one is proved. The word of the organization ends only what stands on
// such a word.
function proven(proved: ProvedAddress[], entry: ProvedAddress): ProvedAddress[] {
  const known = proved.find(({ address }) => address === entry.address)
  const kept = known && (isProved(known) || !isProved(entry)) ? known : entry
  return isProved(kept) ? [kept] : [...proved.filter(isProved), kept]
}

function isProved({ proof }: ProvedAddress): boolean {
  return proof !== 'organization'
}
