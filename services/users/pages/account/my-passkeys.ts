import { create } from '@bufbuild/protobuf'
import type { AddMyPasskeyRequest, ChangeMyPasskeyRequest } from '#gen/roster/users/v1/account_service'
import type { AccountPage, OwnPasskey, PageAnswer, PasskeyPrompt } from '#gen/roster/users/v1/sign_in_service'
import { RosterError } from '#lib/errors'
import { registry } from '#lib/registry'
import type { Call } from '#lib/rpc/headers'
import { validate } from '#lib/rpc/validate'
import type { Context } from '../../context.ts'
import { meantName } from '../../directory/meant-name.ts'
import type { Candidate } from '../../openid/authorization/candidates.ts'
import { isAllowed } from '../../openid/judge/judge.ts'
import { mailboxAlone, provedMailboxAlone } from '../../sessions/mailbox-alone.ts'
import { makerOf } from '../../sessions/factors/passkey/aaguids.ts'
import { renamePasskey, removePasskey } from '../../sessions/passkeys/change.ts'
import { usesOfPasskeys } from '../../sessions/factors/passkey/passkey-rows.ts'
import { beginRegistration, finishRegistration, mostPasskeys, type NewFor } from '../../sessions/passkeys/register.ts'
import { relyingParty } from '../../sessions/factors/passkey/relying-party.ts'
import { openAccount, type OpenAccount } from './open-account.ts'

const named = registry.getMessage('roster.users.v1.VerifyPasskeyRegistrationRequest')!

/** The passkeys of a person; nothing where there are none, and the policy allows none. */
export async function passkeysPart(context: Context, person: Candidate): Promise<Pick<AccountPage, 'passkeys'>> {
  const { userId, policy } = person.signedInUser
  const all = person.user.human?.passkeys ?? []
  if (all.length === 0 && !policy.allowPasskeys) return { passkeys: undefined }
  const { id: rpId } = relyingParty(context.config)
  const uses = await usesOfPasskeys(context, userId)
  const passkeys = all.map((one): OwnPasskey => ({
    id: one.id,
    name: one.name,
    creationDate: new Date(one.createdAt),
    lastUseDate: uses.get(one.id)?.usedAt ?? undefined,
    maker: makerOf(one.aaguid) ?? '',
    backedUp: uses.get(one.id)?.backedUp === true,
    isDead: one.rpId !== rpId,
    secondOnly: one.secondOnly === true || one.discoverable === false,
    credentialId: one.credentialId,
  }))
  const userHandle = all.find((one) => one.rpId === rpId)?.userHandle ?? ''
  const isFull = all.length >= mostPasskeys
  const byMailAlone = standsOnMailbox(person)
  return { passkeys: { passkeys, newPasskey: undefined, rpId, userHandle, isFull, byMailAlone } }
}

/** The same, and what makes a further one. */
export async function passkeysPage(context: Context, person: Candidate): Promise<Pick<AccountPage, 'passkeys'>> {
  const { passkeys: part } = await passkeysPart(context, person)
  if (!part || part.isFull || part.byMailAlone || !person.signedInUser.policy.allowPasskeys) return { passkeys: part }
  const { userId, organizationId } = person.signedInUser
  const user = { id: userId, organizationId, state: person.user }
  const wanted = { secondOnly: false }
  const options = await beginRegistration(context, user, bindingOf(person), wanted)
  const newPasskey: PasskeyPrompt = { options: JSON.stringify(options), unknownCredentialId: '' }
  return { passkeys: { ...part, newPasskey } }
}

function standsOnMailbox({ user, verdict }: Candidate): boolean {
  return isAllowed(verdict) && provedMailboxAlone(user.human, verdict.factors)
}

function bindingOf({ signedInUser: { userId, sessionId, browserId } }: Candidate): NewFor {
  return { for: 'account', browserId: browserId!, sessionId, userId }
}

const outcomes: Record<string, string> = {
  PASSKEY_CHALLENGE_OVER: 'passkey-late',
  PASSKEY_UNVERIFIED: 'passkey-unverified',
  PASSKEY_INVALID: 'passkey-invalid',
  PASSKEY_EXISTS: 'passkey-exists',
  PASSKEYS_FULL: 'passkey-full',
  FACTOR_NOT_AVAILABLE: 'passkey-not-allowed',
  LAST_FACTOR: 'passkey-last',
  MAILBOX_ALONE: 'passkey-by-mail',
  MAILS_THROTTLED: 'throttled',
  // It was removed in another tab.
  PASSKEY_NOT_FOUND: 'passkey-removed',
}

export async function addMyPasskey(context: Context, request: AddMyPasskeyRequest, call: Call): Promise<PageAnswer> {
  const opened = await openAccount(context, request, 'passkeys', call)
  if ('answer' in opened) return opened.answer
  const { userId, person } = opened
  const name = nameOf(request.name)
  if (name === undefined) return opened.to('passkeys', 'passkey-name-invalid')
  return answered(opened, async () => {
    const added = {
      userId,
      credential: request.credential,
      name,
      binding: bindingOf(person),
      secondOnly: false,
      isOwn: true,
      mark: opened.mark,
    }
    const { discoverable } = await finishRegistration(context, added, opened.call)
    // It serves where a name was typed, and nowhere else.
    return discoverable === false ? 'passkey-hidden' : 'passkey-added'
  })
}

export async function changeMyPasskey(
  context: Context,
  request: ChangeMyPasskeyRequest,
  call: Call,
): Promise<PageAnswer> {
  const opened = await openAccount(context, request, 'passkeys', call)
  if ('answer' in opened) return opened.answer
  const { userId } = opened
  const { passkeyId, action } = request
  const name = nameOf(request.name)
  if (action === 'rename' && name === undefined) return opened.to('passkeys', 'passkey-name-invalid')
  return answered(opened, async () => {
    if (action === 'rename') await renamePasskey(context, { userId, passkeyId, name: name! }, opened.call)
    else await removePasskey(context, { userId, passkeyId }, opened.call)
    return action === 'rename' ? 'saved' : 'passkey-removed'
  })
}

/** A name as it was meant. Undefined: it breaks a rule of VerifyPasskeyRegistration. */
export function nameOf(typed: string): string | undefined {
  const passkeyName = meantName(typed, 'thing')
  const faults = validate(named, create(named, { passkeyName })).filter(({ field }) => field === 'passkeyName')
  return faults.length > 0 ? undefined : passkeyName
}

// By a mail for a forgotten password the person would come in all the same, and make another one.
function outcomeOf({ reason, metadata }: RosterError): string | undefined {
  return metadata['recovery'] === 'mail' ? 'passkey-last-but-mail' : outcomes[reason]
}

async function answered({ to, person }: OpenAccount, change: () => Promise<string>): Promise<PageAnswer> {
  try {
    if (standsOnMailbox(person)) throw mailboxAlone()
    return to('passkeys', await change())
  } catch (error) {
    const outcome = error instanceof RosterError ? outcomeOf(error) : undefined
    if (outcome === undefined) throw error
    return to('passkeys', outcome)
  }
}
