import type { UniqueKey } from '#lib/eventstore/command'
import type { Human } from '../events/human.ts'
import { linkKey } from '../events/links.ts'
import type { UserEvent } from '../events/user.ts'

/** Whether an account was made by a provider, and its person has not proved the address, signed in. */
export function isUnproved(human: Human | undefined): boolean {
  return human?.links?.some((link) => link.unproved) === true
}

/**
 * What ends where the mailbox alone opens such an account: the links that were made before, and the passkeys. Who made it by a
 * provider may be a stranger who waited there for the owner of the address.
 */
export function endingUnproved(human: Human | undefined): { events: UserEvent[]; releases: UniqueKey[] } {
  if (!human || !isUnproved(human)) return { events: [], releases: [] }
  const unproved = human.links!.filter((link) => link.unproved)
  return {
    events: [
      ...unproved.map(({ idpId }): UserEvent => ({
        type: 'idp.unlinked',
        payload: { idpId, cause: 'address-proved' },
      })),
      ...(human.passkeys ?? []).map(({ id: passkeyId }): UserEvent => ({
        type: 'passkey.removed',
        payload: { passkeyId },
      })),
    ],
    releases: unproved.map(linkKey),
  }
}
