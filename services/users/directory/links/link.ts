import type { Decision, UniqueKey } from '#lib/eventstore/command'
import { RosterError } from '#lib/errors'
import { type Link, linkKey, mostLinks } from '../events/links.ts'
import type { UserEvent } from '../events/user.ts'

/** A link is not made. No caller gets this error: a page goes on. */
export class NotLinked extends RosterError {
  constructor(message: string) {
    super('ALREADY_EXISTS', 'LINK_TAKEN', message)
  }
}

/** A link that is to be made. */
export type NewLink = Omit<Link, 'linkedAt' | 'refusal'>

/** What links a user. Throws `NotLinked` where another user is linked to the same person. */
export function linking({ userName, unproved, named, ...link }: NewLink) {
  const payload = {
    ...link,
    ...(userName && { userName }),
    ...(unproved && { unproved }),
    ...(named && { named }),
  }
  const taken = new NotLinked('The identity provider signs in another user by this.')
  const claims: (UniqueKey & { taken: RosterError })[] = [{ ...linkKey(link), taken }]
  return { events: [{ type: 'idp.linked', payload }], claims } satisfies Partial<Decision<UserEvent>>
}

/** Throws `NotLinked`. */
export function refuseFurther(links: readonly Link[], idpId: string): void {
  if (links.some((one) => one.idpId === idpId)) throw new NotLinked('The user is linked to this provider already.')
  if (links.length >= mostLinks) throw new NotLinked(`A user has ${mostLinks} identity providers at most.`)
}
