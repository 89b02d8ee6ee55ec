import { Gender } from '#gen/roster/users/v1/user'
import type { Write } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision, Guard } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { isOpen } from '../../../organization-status.ts'
import type { Context } from '../../context.ts'
import { invitationKey, isOpenInvitation } from '../../directory/events/invitation.ts'
import type { User, UserEvent } from '../../directory/events/user.ts'
import type { LoginUser } from '../../directory/login-names/login-user.ts'
import { claimUserName, newProfile, refuseTakenId } from '../../directory/new-user.ts'
import { statuses } from '../../directory/organizations/statuses.ts'
import type { MadePasskey } from '../../sessions/passkeys/made-passkey.ts'
import { takeAddress } from '../../directory/login-names/address-holder.ts'
import { linking, type NewLink } from '../../directory/links/link.ts'
import { madeUserName } from '../registration/made-user-name.ts'
import { Superseded } from '../../sessions/browsers/superseded.ts'
import { seerOfCode } from './seer-of-code.ts'
import { keepAccepting, type WholeInvitation } from './invitation-rows.ts'

/**
 * What a person signs in by from now on: the hash of a password, or in its place a passkey or the link to an identity provider;
 * none of them: mailed codes.
 */
export type ChosenFactor =
  | { hash: string; passkey?: undefined; link?: undefined }
  | { hash?: undefined; passkey: MadePasskey; link?: undefined }
  | { hash?: undefined; passkey?: undefined; link?: ChosenLink }

/** Whom a provider proved. */
export type ChosenLink = Pick<NewLink, 'idpId' | 'issuer' | 'subject' | 'userName'>

/** What a person chooses who accepts an invitation. */
export type Chosen = ChosenFactor & {
  givenName: string
  familyName: string
  /** Of the page. */
  language: string
  guards: Guard[]
}

/**
 * Adds the person of an invitation whose code was right, under its id: so it makes one person at most. A mailed link has
 * proved the address. Throws `AddressTaken`, `NotLinked`, USER_ID_TAKEN where the link was used at the same time, and `Superseded` where
 * it is over.
 */
export async function addInvited(
  context: Context,
  { id, organizationId, email, preferredLanguage, state: { link } }: WholeInvitation,
  { givenName, familyName, language, hash, passkey, link: chosenLink, guards }: Chosen,
  { requestId, deadline }: Call,
): Promise<LoginUser> {
  const userName = madeUserName({ givenName, familyName })
  const profile = newProfile({
    firstName: givenName,
    lastName: familyName,
    preferredLanguage: preferredLanguage || language,
    gender: Gender.GENDER_UNSPECIFIED,
  })
  const isMailed = link.delivery === 'mailed'
  const { delivery, inviterId } = link
  const seer = await seerOfCode(context, { delivery, inviterId, organizationId }, { requestId, deadline })
  const taken = isMailed ? takeAddress(context, id, { email, organizationId, anywhere: true }) : undefined
  return context.store.execute({
    aggregate: { type: 'user', id },
    creates: true,
    reads: { status: statuses.key(organizationId), invitation: invitationKey(id) },
    call: { caller: { userId: id }, requestId, deadline },
    decide(user: Aggregate<User>, now, { status, invitation }): Decision<UserEvent> {
      refuseTakenId(user)
      const { state } = invitation
      if (!isOpen(status) || !isOpenInvitation(state, now) || state.link.codeId !== link.codeId) throw new Superseded()
      const proof = isMailed && { codeId: link.codeId }
      const added = {
        type: 'human.added' as const,
        payload: { userName, profile, email, isVerified: isMailed, ...proof },
      }
      const made = passkey?.stored(id, now)
      // Whoever has an address that nobody proved may take the account back.
      const unproved = !isMailed && { unproved: true as const }
      const linked = chosenLink && linking({ ...chosenLink, ...unproved, ...(seer && { named: true as const }) })
      const by = { codeId: link.codeId, ...(seer && { setBy: seer }) }
      return {
        organizationId,
        claims: [claimUserName(organizationId, userName), ...(made?.claims ?? []), ...(linked?.claims ?? [])],
        events: [added, ...(passkey ? [passkey.event(by)] : []), ...(linked?.events ?? [])],
        writes: [
          ...(made?.writes ?? (hash === undefined ? [] : [firstPassword(id, hash)])),
          ...(taken ? [taken.write] : []),
          keepAccepting(id, id),
        ],
        guards: [...(made?.guards ?? []), ...(taken ? [taken.guard] : []), ...guards],
        answer: undefined,
      }
    },
    respond: ({ after }) => ({ userId: id, organizationId, state: after.state as User, hash: hash ?? null, known: [] }),
  })
}

function firstPassword(id: string, hash: string): Write {
  return (sql) => sql`insert into passwords (user_id, hash) values (${id}, ${hash})`
}
