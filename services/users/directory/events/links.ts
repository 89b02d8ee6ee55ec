import type { UniqueKey } from '#lib/eventstore/command'

export type LinkEvent =
  | { type: 'idp.linked'; payload: Omit<Link, 'linkedAt' | 'refusal' | 'keepsAddress'> }
  | { type: 'idp.unlinked'; payload: { idpId: string; cause?: 'address-proved' } }
  /** What the provider says was taken over, or refused. */
  | { type: 'idp.followed'; payload: { idpId: string; refusal?: string } }

/** An identity provider that signs a person in: there is one link of a person with each. */
export interface Link {
  idpId: string
  /** Whom the provider proves, byte for byte. */
  issuer: string
  subject: string
  /** What the person is called there. */
  userName?: string
  /** The verified domain by which it was made. Missing: the person asked for it. */
  domain?: string
  /** Somebody else named whom it proves, without the role that covers every other. */
  named?: true | undefined
  /** The account was made by it, or by another such link, and its person has not proved the address. */
  unproved?: true | undefined
  /** RFC 3339. */
  linkedAt: string
  /** Why the address that the provider says was not taken over the last time. Missing: it was. */
  refusal?: string
  /** The person has taken a change of the address back since: the provider moves it no more. */
  keepsAddress?: true
}

/** So many providers sign one person in at most. */
export const mostLinks = 20

/** The kind of the unique keys that hold links. Their scope is the provider. */
export const linkKind = 'idp_link'

/** Whoever a provider proves is one user: of issuer and subject, as they are. */
export function linkKey({ idpId, issuer, subject }: Pick<Link, 'idpId' | 'issuer' | 'subject'>): UniqueKey {
  return { kind: linkKind, scope: idpId, key: JSON.stringify([issuer, subject]) }
}

export function evolveLinks(links: Link[], event: LinkEvent, at: Date): Link[] {
  if (event.type === 'idp.followed') return links.map((link) => followed(link, event.payload))
  const others = links.filter(({ idpId }) => idpId !== event.payload.idpId)
  return event.type === 'idp.unlinked' ? others : [...others, { ...event.payload, linkedAt: at.toISOString() }]
}

function followed(link: Link, { idpId, refusal }: { idpId: string; refusal?: string }): Link {
  if (link.idpId !== idpId) return link
  const { refusal: _, ...rest } = link
  return { ...rest, ...(refusal !== undefined && { refusal }) }
}
