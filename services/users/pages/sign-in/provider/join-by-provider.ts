import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../../context.ts'
import type { Parameters } from '../../../openid/request/parameters.ts'
import type { ProvedHere } from '../../../openid/request/request-row.ts'
import type { OpenedRequest } from '../opened-request.ts'
import { isOver } from './register-proved.ts'
import { findInvited } from '../../invitation/invited.ts'
import { findInvitedUser } from '../../invitation/invited-user.ts'
import type { WaysToJoin } from '../../invitation/ways-to-join.ts'

/**
 * Whether somebody whom a provider has proved, and to whom no user is linked, can join by that: a new person, or a user without
 * a password where the provider connects accounts. A known person signs in by what is there.
 */
export async function joinsByProvider(
  context: Context,
  invitation: NonNullable<Parameters['invitation']>,
  { refusesLinking }: { refusesLinking: boolean },
  call: Call,
): Promise<boolean> {
  if (invitation.ofUser) return !refusesLinking && (await findInvitedUser(context, invitation, call)) !== undefined
  const invited = await findInvited(context, invitation)
  return invited !== undefined && invited.holderId === undefined
}

/** Whom a provider has proved in this request and browser, where that serves to join: it still counts, and so does the provider. */
export function provedToJoin(
  { row, browser, now }: Pick<OpenedRequest, 'row' | 'browser' | 'now'>,
  { factors, providers }: WaysToJoin,
): ProvedHere | undefined {
  const { proved } = row.progress
  if (!proved || !browser.isPresent || isOver(proved, now) || !factors.includes('provider')) return undefined
  return providers.some(({ idpId }) => idpId === proved.idpId) ? proved : undefined
}
