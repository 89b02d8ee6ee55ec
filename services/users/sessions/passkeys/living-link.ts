import { loadReads } from '#lib/eventstore/load-reads'
import type { Call } from '#lib/rpc/headers'
import { isOpen } from '../../../organization-status.ts'
import type { Context } from '../../context.ts'
import type { User } from '../../directory/events/user.ts'
import { mayStillActOn } from '../../directory/may-act-on.ts'
import { statuses } from '../../directory/organizations/statuses.ts'
import { findCode, type OneTimeCode } from '../../directory/secrets/one-time-codes.ts'
import { isActive } from '../../directory/states/user-state.ts'

export const kind = 'passkey-link'
/** What all links of administrators are for. So there is one of a user. */
export const purpose = 'passkey'

/** Of a login application: it leaves others' links alone, and nobody else has its own. */
export function vouchedPurpose({ caller }: Pick<Call, 'caller'>): string {
  return JSON.stringify([purpose, caller.userId])
}

/**
 * The living code of a user, without a try: the challenge that it led to says that it was right. It is over with another
 * address, where the organization is closed, and once the user has a role beyond those of whoever made the link, or set
 * the address: they may have seen the code.
 */
export async function findLinkOf(context: Context, userId: string, call: Call): Promise<OneTimeCode | undefined> {
  const found = await findLiving(context, { userId, purpose })
  if (!found) return undefined
  const { code, user } = found
  const seen = [code.detail['madeBy'], user.human?.emailSetBy]
  return (await mayStillActOn(context, seen, userId, call)) ? code : undefined
}

/** The one that the calling login application got. Whoever asks then asks for the session that vouches for it. */
export async function findVouchedLink(context: Context, userId: string, call: Call): Promise<OneTimeCode | undefined> {
  return (await findLiving(context, { userId, purpose: vouchedPurpose(call) }))?.code
}

async function findLiving(context: Context, bound: { userId: string; purpose: string }) {
  const { store } = context
  const [code, user] = await Promise.all([findCode(context, kind, bound), store.load<User>('user', bound.userId)])
  if (!code || !user || !isActive(user.state) || code.detail['email'] !== user.state.human?.email) return undefined
  const { status } = await loadReads(store, { status: statuses.key(user.organizationId) })
  return isOpen({ state: status.state }) ? { code, user: user.state } : undefined
}
