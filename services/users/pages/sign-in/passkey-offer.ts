import { createHash } from 'node:crypto'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { orUnavailable } from '#lib/database/database'
import { codes, RosterError } from '#lib/errors'
import { anonymous } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import { isBesideFormer } from '#lib/schema/releases'
import type { Context } from '../../context.ts'
import type { Human } from '../../directory/events/human.ts'
import { firstPasskeys } from '../../directory/events/passkeys.ts'
import { show } from '../../openid/authorization/answer.ts'
import type { Candidate } from '../../openid/authorization/candidates.ts'
import { isAllowed } from '../../openid/judge/judge.ts'
import { advance, ongoing, stillOpen } from '../../openid/request/request-row.ts'
import type { Binding } from '../../sessions/factors/binding.ts'
import { readRegistration, refused } from '../../sessions/factors/passkey/ceremony.ts'
import { relyingParty } from '../../sessions/factors/passkey/relying-party.ts'
import { missingFactors, ownFactors } from '../../sessions/login-policy/login-policy.ts'
import { markOfLink } from '../../sessions/mark-of-link.ts'
import { provedMailboxAlone } from '../../sessions/mailbox-alone.ts'
import { beginRegistration, finishRegistration, mostPasskeys } from '../../sessions/passkeys/register.ts'
import type { OpenedRequest } from './opened-request.ts'

type Opened = Pick<OpenedRequest, 'row' | 'browser' | 'now'>

/**
 * The page that offers a passkey, once in a sign-in: it goes on with the request whatever comes of it. Undefined: nothing is
 * offered.
 */
export async function offerPasskey(
  context: Context,
  opened: Opened,
  person: Candidate,
): Promise<PageAnswer | undefined> {
  const { row, browser } = opened
  const { progress } = row
  const goOn = (offer: typeof progress.offer) =>
    orUnavailable(advance(context.keys, row.id, { ...progress, newPasskey: undefined, offer })(context.sql))
  if (!browser.isPresent) return undefined
  if (progress.offer === 'failed') {
    await goOn(undefined)
    return offerPage(person, { passkey: undefined, conditional: false })
  }
  if (!progress.newPasskey || !isOffered(context, opened, person)) return undefined
  // One of the former release could not publish its event.
  if (await isBesideFormer(context.sql)) return undefined
  const conditional = progress.newPasskey === 'conditional'
  const { userId, organizationId } = person.signedInUser
  const user = { id: userId, organizationId, state: person.user }
  const binding = bindingOf(opened, person, conditional)
  const options = await beginRegistration(context, user, binding, { secondOnly: false }).catch((error: unknown) => {
    if (!isFailedOffer(error)) throw error
    return undefined
  })
  if (!options) return undefined
  await goOn({ challenge: hashOf(options.challenge), conditional })
  return offerPage(person, {
    passkey: { options: JSON.stringify(options), unknownCredentialId: '' },
    conditional,
  })
}

/** Before what it depends on is known. */
export function mayBeOffered({ config }: Pick<Context, 'config'>, human: Human | undefined): boolean {
  const { id } = relyingParty(config)
  const passkeys = human?.passkeys ?? []
  return human !== undefined && passkeys.length < mostPasskeys && !firstPasskeys(human).some(({ rpId }) => rpId === id)
}

// All that the policy demands of the person, and that the person owns, was proved in this request, beginning with the
// password: a trusted browser stands in for nothing, and nor does an earlier sign-in. Who has a passkey, on another device,
// has not proved that one.
function isOffered(context: Context, { row, now }: Opened, { user, verdict, signedInUser: { policy } }: Candidate) {
  const { human } = user
  if (!isAllowed(verdict) || !policy.allowPasskeys || !mayBeOffered(context, human)) return false
  const proved = verdict.factors.filter(({ at }) => at > row.beganAt)
  return (
    proved.some(({ kind }) => kind === 'password') &&
    missingFactors(policy, ownFactors(human, policy), proved, { now }).length === 0 &&
    !provedMailboxAlone(human, proved)
  )
}

/** Adds the passkey that was offered. Throws `refused`; the errors of `finishRegistration`. */
export async function addOffered(
  context: Context,
  opened: Opened,
  person: Candidate | undefined,
  credential: string,
  call: Call,
): Promise<void> {
  const { offer } = opened.row.progress
  if (!offer || offer === 'failed' || !person || !isOffered(context, opened, person)) throw refused('late')
  if (hashOf(readRegistration(credential).client.challenge) !== offer.challenge) throw refused('late')
  const { userId } = person.signedInUser
  const binding = bindingOf(opened, person, offer.conditional)
  const guards = [stillOpen(opened.row.id)]
  const proved = isAllowed(person.verdict) ? person.verdict.factors.filter(({ at }) => at > opened.row.beganAt) : []
  const mark = markOfLink(person.user.human, proved, opened.now)
  const added = { userId, credential, name: '', binding, secondOnly: false, guards, isOwn: true, mark }
  await finishRegistration(context, added, { ...call, caller: { ...anonymous, userId } })
}

/** What the request goes on with. A passkey that nobody asked for fails in silence. */
export function afterOffer({ row: { progress } }: Opened, error?: unknown) {
  const failed = error !== undefined && progress.offer && progress.offer !== 'failed' && !progress.offer.conditional
  const { passedOver } = progress
  return { ...ongoing({}), ...(passedOver && { passedOver }), ...(failed && { offer: 'failed' as const }) }
}

/** The passkey was not added, and the sign-in goes on all the same. */
export function isFailedOffer(error: unknown): boolean {
  return error instanceof RosterError && error.code !== codes.UNAVAILABLE
}

function bindingOf(
  { row, browser }: Opened,
  { signedInUser: { sessionId, userId } }: Candidate,
  conditional: boolean,
): Extract<Binding, { for: 'offer' | 'conditional' }> {
  return { for: conditional ? 'conditional' : 'offer', requestId: row.id, browserId: browser.id, sessionId, userId }
}

function hashOf(challenge: string): string {
  return createHash('sha256').update(challenge).digest('base64url')
}

function offerPage(
  { knownName }: Candidate,
  {
    passkey,
    conditional,
  }: { passkey: { options: string; unknownCredentialId: string } | undefined; conditional: boolean },
): PageAnswer {
  return show({ $case: 'passkeyOffer', value: { loginName: knownName, passkey, conditional } })
}
