import { v7 as uuid } from 'uuid'
import { OIDCAppType } from '#gen/roster/grants/v1/application_service'
import type { Write } from '#lib/database/database'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { writeAccess } from '../../directory/tokens/access-rows.ts'
import type { Browser } from '../../sessions/browsers/session-cookie.ts'
import { noteUse } from '../../sessions/browsers/browser-sessions.ts'
import type { Context } from '../../context.ts'
import type { RequestFacts } from '../judge/facts.ts'
import { type Allowed, judge, type Missing, type ShutOut } from '../judge/judge.ts'
import { makeSecret } from '../../directory/secrets/secret.ts'
import { type AuthorizationEvent, authorizationType, type Granted } from '../events/authorization.ts'
import { type SignedInUser, factsFrom, factKeys } from './facts-of.ts'
import type { Parameters } from '../request/parameters.ts'
import type { Asked } from '../request/read-parameters.ts'
import { whyNotOffline } from '../request/why-not-offline.ts'
import { closing } from '../request/request-row.ts'

/** A request that may be granted to a signed-in user. */
export interface Grantable {
  stage: 'page' | 'silent' | 'session-api'
  signedInUser: SignedInUser
  /** Undefined where a login application answers. */
  browser: Browser | undefined
  parameters: Parameters
  asked: Asked
  facts: RequestFacts
  /** The request that this answers. Undefined: it is answered at once. */
  requestId: string | undefined
}

/** Seconds. */
export const codeLifetime = 60

/**
 * Grants what is asked for, and returns the code; or what is missing, where something is. Throws `Superseded` where the
 * request was answered meanwhile.
 */
export async function grantCode(
  context: Context,
  grantable: Grantable,
  { requestId, deadline }: Call,
): Promise<{ code: string } | Missing | ShutOut> {
  const { store, keys } = context
  const { stage, signedInUser, facts } = grantable
  const id = uuid()
  try {
    const { code, scopes } = await store.execute({
      aggregate: { type: authorizationType, id },
      reads: factKeys(signedInUser),
      call: { caller: { userId: signedInUser.userId }, requestId, deadline },
      decide(_authorization: Aggregate<Granted>, now, reads): Decision<AuthorizationEvent, readonly string[]> {
        const verdict = judge(stage, factsFrom(signedInUser, reads, facts, now), now)
        if ('missing' in verdict || 'shutOut' in verdict) throw new NotAllowed(verdict)
        return {
          organizationId: verdict.organizationId,
          events: [{ type: 'granted', payload: granted(verdict, grantable) }],
          ...storing(context, id, grantable),
          answer: verdict.scopes,
        }
      },
      respond: ({ answer }) => ({ code: makeSecret(keys, 'code', [id]), scopes: answer }),
    })
    logLeftOut(context, grantable, { authorizationId: id, scopes, requestId })
    return { code }
  } catch (error) {
    if (error instanceof NotAllowed) return error.verdict
    throw error
  }
}

// The application gets no error, so this alone says why no refresh token comes.
function logLeftOut(
  { log }: Context,
  { parameters, signedInUser: { application } }: Grantable,
  { authorizationId, scopes, requestId }: { authorizationId: string; scopes: readonly string[]; requestId: string },
) {
  const reason = whyNotOffline(parameters.scope, application.oidc, scopes)
  if (!reason) return
  const { id: applicationId, clientId } = application
  log.info({ requestId, clientId, applicationId, authorizationId, reason }, 'offline_access was left out')
}

class NotAllowed extends Error {
  readonly verdict: Missing | ShutOut

  constructor(verdict: Missing | ShutOut) {
    super('something is missing')
    this.verdict = verdict
  }
}

function granted(allowed: Allowed, { parameters, asked }: Grantable): Granted {
  const { application, project, scopes, factors } = allowed
  const { redirectUri, codeChallenge, dpopJkt } = parameters
  return {
    userId: allowed.userId,
    applicationId: application.id,
    projectId: project.id,
    sessionId: allowed.sessionId!,
    scope: scopes.join(' '),
    claims: asked.claims,
    ...(asked.organizationScope !== undefined && { organizationScope: asked.organizationScope }),
    redirectUri,
    ...(codeChallenge !== '' && { challenge: codeChallenge }),
    ...(dpopJkt !== '' && { dpopThumbprint: dpopJkt }),
    authTime: allowed.authTime.toISOString(),
    factors: factors.map((factor) => ({ ...factor, at: factor.at.toISOString() })),
    offline: scopes.includes('offline_access'),
    endsWithSession: application.oidc?.appType === OIDCAppType.OIDC_APP_TYPE_USER_AGENT,
    rounds: allowed.rounds,
    ...(allowed.admittedBy && { admittedBy: allowed.admittedBy }),
  }
}

function storing({ keys }: Context, id: string, { signedInUser, browser, parameters, requestId }: Grantable) {
  const { userId, sessionId, application, isNoted } = signedInUser
  const detail = keys.encrypt('secret-detail', JSON.stringify({ nonce: parameters.nonce }))
  const closed = requestId === undefined ? undefined : closing(requestId)
  const writes: Write[] = [
    writeAccess({ code: { id, user_id: userId, lifetime: codeLifetime, detail: detail.toString('base64') } }),
    ...(browser && !isNoted ? noteUse(browser, application.id, sessionId) : []),
    ...(closed ? [closed.write] : []),
  ]
  return { writes, ...(closed && { guards: [closed.guard] }) }
}
