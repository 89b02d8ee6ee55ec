import { orUnavailable, readNow } from '#lib/database/database'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import type { LeavesBy } from '../../openid/request/request-row.ts'
import { openTokens } from '../../sessions/factors/provider/kept-tokens.ts'

const purpose = 'provider-sign-out'
/** Milliseconds in which a browser comes back from a provider. */
const lifetime = 3_600_000
/** Characters of the way back: servers take a few thousand in an address, and one that takes less would lose the person. */
const longest = 3000

/** Where a browser goes once it comes back. */
export interface WayBack {
  /** Empty: to a page of ours. */
  location: string
  clientId: string
  uiLocales: string
}

/**
 * The provider to which a sign-out from these sessions leads on: of several, the first one's, and the last that signed in to it. Asked before they end, since nothing
 * is known of them then. UNAVAILABLE STORE_UNAVAILABLE.
 */
export async function leavesBy(
  context: Context,
  sessions: readonly { sessionId: string; userId: string }[],
): Promise<LeavesBy | undefined> {
  const ids = sessions.map(({ sessionId }) => sessionId)
  const [row] = await orUnavailable(context.sql<{ idpId: string; userId: string; tokens: string | null }[]>`
    select s.idp_id as "idpId", s.user_id as "userId", case when p.keeps_tokens then s.tokens end as tokens
    from provider_sessions s join identity_providers p using (idp_id)
    where s.session_id = any(${ids}) and p.logs_out
    order by array_position(${ids}::text[], s.session_id), s.proved_at desc limit 1
  `)
  if (!row) return undefined
  const { tokens, ...of } = row
  const kept = tokens === null ? undefined : await openTokens(context, { ...of, tokens })
  return { idpId: row.idpId, ...(kept?.idToken && { idToken: kept.idToken, receiver: kept.receiver }) }
}

/** Where the browser signs out at the provider. Undefined where that cannot be now: the sign-out here is whole without it. */
export async function signOutThere(
  context: Context,
  { idpId, idToken = '', receiver = '' }: LeavesBy,
  back: WayBack,
  call: Call,
): Promise<string | undefined> {
  const now = await orUnavailable(readNow(context.sql))
  const until = now.getTime() + lifetime
  const state = context.keys.encrypt(purpose, JSON.stringify({ ...back, idpId, until })).toString('base64url')
  if (state.length > longest) return undefined
  const request = { idpId, state, idTokenHint: idToken, idTokenReceiver: receiver, uiLocales: back.uiLocales }
  try {
    return (await context.idp.endSessionAtProvider(request, call)).url || undefined
  } catch (error) {
    context.log.warn({ idpId, err: error }, 'a sign-out does not lead on to the identity provider')
    return undefined
  }
}

/** What went with a browser to this provider. Undefined for any other text, and after an hour. UNAVAILABLE STORE_UNAVAILABLE. */
export async function readWayBack(
  { keys, sql }: Pick<Context, 'keys' | 'sql'>,
  idpId: string,
  state: string,
): Promise<WayBack | undefined> {
  const meant = open(keys, state)
  const now = meant && (await orUnavailable(readNow(sql)))
  return meant?.idpId === idpId && now!.getTime() < meant.until ? meant : undefined
}

function open(keys: Context['keys'], state: string): (WayBack & { idpId: string; until: number }) | undefined {
  const bytes = Buffer.from(state, 'base64url')
  // No other text stands for the same way.
  if (bytes.toString('base64url') !== state) return undefined
  try {
    return JSON.parse(keys.decrypt(purpose, bytes))
  } catch {
    return undefined
  }
}
