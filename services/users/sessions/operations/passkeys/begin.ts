import { v7 as uuid } from 'uuid'
import type { ObjectDetails } from '#gen/roster/object/v1/object'
import { PasskeyAuthenticator, type PasskeyRegistrationCode } from '#gen/roster/users/v1/user_service'
import { details } from '#lib/eventstore/aggregate'
import { RosterError, type Violation } from '#lib/errors'
import { permissionDenied } from '#lib/rpc/authorize'
import { holds } from '#lib/rpc/caller'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import type { User } from '../../../directory/events/user.ts'
import { existing } from '../../../directory/states/user-state.ts'
import { requireVouchedPasskey } from '../../login-client-session.ts'
import type { NewFor } from '../../passkeys/register.ts'
import { beginRegistration } from '../../passkeys/register.ts'
import { requireFreshFactor } from '../../passkeys/fresh.ts'
import { openLink } from '../../passkeys/link.ts'
import { relyingParty } from '../../factors/passkey/relying-party.ts'

/** A passkey that a program begins, for its caller or by a link. */
export interface Begun {
  userId: string
  code?: PasskeyRegistrationCode | undefined
  authenticator?: PasskeyAuthenticator
  secondOnly: boolean
}

export function checkDomain({ config }: Context, { domain }: { domain: string }): Violation[] {
  const { id } = relyingParty(config)
  return domain === '' || domain === id ? [] : [{ field: 'domain', description: `must be ${id}` }]
}

/** Begins one, and returns its id and what a page hands to its browser. */
export async function begin(
  context: Context,
  { userId, code, authenticator = PasskeyAuthenticator.PASSKEY_AUTHENTICATOR_UNSPECIFIED, secondOnly }: Begun,
  call: Call,
): Promise<{ id: string; details: ObjectDetails; options: Record<string, unknown> }> {
  // Without a code, everybody begins their own alone, and others learn nothing of the user. A login application, to which
  // ZITADEL gives no code for a security key, has a session of the user.
  if (code) await openLink(context, { userId, ...code }, call)
  else if (userId === call.caller.userId) await requireFreshFactor(context, call)
  else if (secondOnly && isLoginClient(call)) await requireVouchedPasskey(context, userId, call)
  else throw permissionDenied()
  const user = await context.store.load<User>('user', userId)
  if (!existing(user?.state).human)
    throw new RosterError('FAILED_PRECONDITION', 'NOT_A_HUMAN', 'Only a human has passkeys.')
  const passkeyId = uuid()
  const binding = bindingOf({ userId, passkeyId, codeId: code?.id, secondOnly }, call)
  const attachment = attachments[authenticator]
  const options = await beginRegistration(context, user!, binding, { secondOnly, attachment })
  return { id: passkeyId, details: details(user!), options: { publicKey: options } }
}

/** Whether it signs people in on pages of its own. */
export function isLoginClient({ caller }: Pick<Call, 'caller'>): boolean {
  return holds(caller, 'session.write')
}

/** Whoever ends it must be who began it. */
export function bindingOf(
  {
    userId,
    passkeyId,
    codeId = '',
    secondOnly,
  }: { userId: string; passkeyId: string; codeId?: string | undefined; secondOnly: boolean },
  { caller: { userId: callerId, sessionId } }: Call,
): Extract<NewFor, { for: 'registration' }> {
  return { for: 'registration', callerId, sessionId, userId, passkeyId, codeId, secondOnly }
}

const attachments: Partial<Record<PasskeyAuthenticator, 'platform' | 'cross-platform'>> = {
  [PasskeyAuthenticator.PASSKEY_AUTHENTICATOR_PLATFORM]: 'platform',
  [PasskeyAuthenticator.PASSKEY_AUTHENTICATOR_CROSS_PLATFORM]: 'cross-platform',
}
