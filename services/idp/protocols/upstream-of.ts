import { orUnavailable, readNow } from '#lib/database/database'
import { guardedFetch } from '#lib/outbound/guarded-fetch'
import { openSecret } from '../client-secrets.ts'
import type { Context } from '../context.ts'
import { protocolOf } from '../show.ts'
import type { Idp } from '../vocabulary.ts'
import type { Upstream } from './protocol.ts'
import { redirectUriOf } from './redirect-uri.ts'
import { secretToSend } from './signed-secret.ts'

/** Milliseconds that one answer of a provider takes at most, and its bytes. */
const [forOne, mostBody] = [5000, 256 * 1024]

/** Milliseconds that an answer takes back to the caller of idp. */
export const answerTakes = 500

/** What the work of a protocol needs of a provider. All of it takes `within` milliseconds at most. */
export async function upstreamOf(context: Context, idpId: string, idp: Idp, within: number): Promise<Upstream> {
  const { sql, destinations, publicUrl } = context
  const [secret, now] = await Promise.all([openSecret(context, idpId, idp), orUnavailable(readNow(sql))])
  const over = AbortSignal.timeout(Math.max(1, Math.floor(within)))
  const fetch = guardedFetch(destinations, { within: forOne, mostBody })
  return {
    configuration: configurationOf(publicUrl, idpId, idp),
    secret: await secretToSend(idp, secret, now),
    mapping: idp.claims?.mapping,
    redirectUri: redirectUriOf(publicUrl, idpId, idp),
    fetch: (url, init) => fetch(url, { ...init, signal: over }),
    clockAhead: now.getTime() - Date.now(),
  }
}

// The tokens of a provider are for its own address, unless its record says otherwise.
function configurationOf(publicUrl: string, idpId: string, idp: Idp): Upstream['configuration'] {
  if (!idp.jwt) return idp[protocolOf(idp)]!
  return { ...idp.jwt, audience: idp.jwt.audience || `${publicUrl}/idps/${encodeURIComponent(idpId)}` }
}
