import { v7 as uuid } from 'uuid'
import { OIDCAppType } from '#gen/roster/grants/v1/application_service'
import { orUnavailable, type Write } from '#lib/database/database'
import type { Keyring } from '#lib/encryption/keys'
import type { Aggregate } from '#lib/eventstore/aggregate'
import type { Decision } from '#lib/eventstore/command'
import type { Call } from '#lib/rpc/headers'
import { isBesideFormer } from '#lib/schema/releases'
import { writeAccess } from '../../directory/tokens/access-rows.ts'
import type { Browser } from '../../sessions/browsers/session-cookie.ts'
import { noteUse } from '../../sessions/browsers/browser-sessions.ts'
import { Superseded } from '../../sessions/browsers/superseded.ts'
import type { Context } from '../../context.ts'
import type { RequestFacts } from '../judge/facts.ts'
import { lowestAcr } from '../acr.ts'
import { type Allowed, isAllowed, judge, type Missing, type ShutOut } from '../judge/judge.ts'
import { makeSecret } from '../../directory/secrets/secret.ts'
import { type AuthorizationEvent, authorizationType, type Granted } from '../events/authorization.ts'
import { type LoadedUser, factsFrom, factKeys } from './facts-of.ts'
import { sealCode } from './sealed-code.ts'
import { type Parameters, wordsOf } from '../request/parameters.ts'
import type { Asked } from '../request/read-parameters.ts'
import { providerTokens } from '../scope.ts'
import { whyNotOffline } from '../request/why-not-offline.ts'
import { closeRequest, closing } from '../request/request-row.ts'

/** A request that may be granted to a signed-in user. */
export interface Grantable extends LoadedUser {
  stage: 'page' | 'silent' | 'session-api'
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
 * Grants what is asked for, and returns the code; or what is missing, where something is. Nothing of it is stored before the
 * code is redeemed, unless the code would be too long. Throws `Superseded` where the request was answered meanwhile.
 */
export async function grantCode(
  context: Context,
  grantable: Grantable,
  call: Call,
): Promise<{ code: string } | Missing | ShutOut> {
  const { stage, signedInUser, reads, facts, requestId } = grantable
  const now = reads.user.readAt
  const verdict = judge(stage, factsFrom(signedInUser, reads, facts, now), now)
  if (!isAllowed(verdict)) return verdict
  const id = uuid()
  // A replica of the former release could not redeem it.
  const isBeside = await isBesideFormer(context.sql)
  const code = isBeside ? undefined : sealGrant(context.keys, id, grantable, verdict, now)
  if (code === undefined) return grantStored(context, id, grantable, call)
  if (requestId !== undefined && !(await closeRequest(context.sql, requestId, 'given'))) throw new Superseded()
  await keepUse(context, grantable)
  logGiven(context, grantable, { authorizationId: id, scopes: verdict.scopes }, call)
  return { code }
}

/** A code that carries what is granted. Undefined where it would be too long. */
export function sealGrant(
  keys: Keyring,
  authorizationId: string,
  grantable: Pick<Grantable, 'parameters' | 'asked'>,
  allowed: Allowed,
  now: Date,
): string | undefined {
  const { nonce } = grantable.parameters
  const { organizationId, project } = allowed
  const of = { authorizationId, organizationId, projectOrganizationId: project.organizationId }
  return sealCode(keys, { ...of, granted: granted(allowed, grantable), nonce, givenAt: now.toISOString() })
}

// Which session an application uses decides who it is answered for next, and when is noted by the minute.
async function keepUse({ sql, afterResponse }: Context, { browser, signedInUser }: Grantable): Promise<void> {
  const { userId, sessionId, application, use = 'other' } = signedInUser
  if (!browser || use === 'noted') return
  const write = async () => void (await orUnavailable(noteUse(browser, application.id, sessionId)(sql)))
  if (use === 'other') await write()
  else afterResponse.run(userId, write)
}

async function grantStored(
  context: Context,
  id: string,
  grantable: Grantable,
  call: Call,
): Promise<{ code: string } | Missing | ShutOut> {
  const { store, keys } = context
  const { stage, signedInUser, reads, facts } = grantable
  const { requestId, deadline } = call
  try {
    const { code, scopes } = await store.execute({
      aggregate: { type: authorizationType, id },
      reads: factKeys(signedInUser),
      known: Object.values(reads),
      call: { caller: { userId: signedInUser.userId }, requestId, deadline },
      decide(_authorization: Aggregate<Granted>, now, found): Decision<AuthorizationEvent, readonly string[]> {
        const verdict = judge(stage, factsFrom(signedInUser, found, facts, now), now)
        if (!isAllowed(verdict)) throw new NotAllowed(verdict)
        return {
          organizationId: verdict.organizationId,
          events: [{ type: 'granted', payload: granted(verdict, grantable) }],
          ...storing(context, id, grantable),
          answer: verdict.scopes,
        }
      },
      respond: ({ answer }) => ({ code: makeSecret(keys, 'code', [id]), scopes: answer }),
    })
    logGiven(context, grantable, { authorizationId: id, scopes }, call)
    return { code }
  } catch (error) {
    if (error instanceof NotAllowed) return error.verdict
    throw error
  }
}

/**
 * Writes into the log that a code was given, since a code that is never redeemed leaves no event; and what was left out.
 * Notes it for the application, too.
 */
export function logGiven(
  { log, arrivals }: Pick<Context, 'log' | 'arrivals'>,
  { parameters, signedInUser }: Pick<Grantable, 'parameters' | 'signedInUser'>,
  { authorizationId, scopes }: { authorizationId: string; scopes: readonly string[] },
  { requestId }: Pick<Call, 'requestId'>,
): void {
  const { userId, sessionId, application } = signedInUser
  const { id: applicationId, clientId } = application
  const line = { requestId, clientId, applicationId, authorizationId }
  log.info({ ...line, userId, sessionId }, 'a code was given')
  arrivals.step(clientId, 'sign-in')
  // The application gets no error, so this alone says why no refresh token comes.
  const reason = whyNotOffline(parameters.scope, application.oidc, scopes)
  if (reason) log.info({ ...line, reason }, 'offline_access was left out')
  if (wordsOf(parameters.scope).includes(providerTokens) && !scopes.includes(providerTokens))
    log.info({ ...line, reason: 'foreign-provider' }, `${providerTokens} was left out`)
}

class NotAllowed extends Error {
  readonly verdict: Missing | ShutOut

  constructor(verdict: Missing | ShutOut) {
    super('something is missing')
    this.verdict = verdict
  }
}

function granted(allowed: Allowed, { parameters, asked }: Pick<Grantable, 'parameters' | 'asked'>): Granted {
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
    ...(allowed.acr !== lowestAcr && { acr: allowed.acr }),
    ...(allowed.trustId !== undefined && { trustId: allowed.trustId }),
    offline: scopes.includes('offline_access'),
    endsWithSession: application.oidc?.appType === OIDCAppType.OIDC_APP_TYPE_USER_AGENT,
    rounds: allowed.rounds,
    ...(allowed.admittedBy && { admittedBy: allowed.admittedBy }),
  }
}

function storing({ keys }: Context, id: string, { signedInUser, browser, parameters, requestId }: Grantable) {
  const { userId, sessionId, application, use } = signedInUser
  const detail = keys.encrypt('secret-detail', JSON.stringify({ nonce: parameters.nonce }))
  const closed = requestId === undefined ? undefined : closing(requestId)
  const writes: Write[] = [
    writeAccess({ code: { id, user_id: userId, lifetime: codeLifetime, detail: detail.toString('base64') } }),
    ...(browser && use !== 'noted' ? [noteUse(browser, application.id, sessionId)] : []),
    ...(closed ? [closed.write] : []),
  ]
  return { writes, ...(closed && { guards: [closed.guard] }) }
}
