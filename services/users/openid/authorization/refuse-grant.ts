import type { IssueTokenRequest } from '#gen/roster/users/v1/oauth_service'
import { codes, RosterError } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../../context.ts'
import { type ApplicationClient, methodOf } from '../clients/application-client.ts'
import type { LoadedAuthorization } from './later-facts.ts'
import { refusalOfGrant } from '../arrivals/refused.ts'
import { type GrantFault, grantFaultOf } from './refusals.ts'
import { whichInLog } from '../which-in-log.ts'

/** What an application presented, and what it stands on. */
export interface PresentedBy {
  request: Pick<IssueTokenRequest, 'grantType' | 'codeVerifier'>
  what: 'code' | 'refresh-token'
  client: ApplicationClient
  authorization: LoadedAuthorization['authorization'] | undefined
}

/**
 * Writes into the log why an application gets no tokens, and gives the error that it gets. One that proved who it is reads
 * what is wrong. A public one may be anybody: it reads what its request alone shows, or one sentence for all the rest.
 */
export function refuseGrant(
  { log, arrivals }: Pick<Context, 'log' | 'arrivals'>,
  presented: PresentedBy,
  error: unknown,
  call: Pick<Call, 'requestId' | 'clientAddress'>,
): unknown {
  if (!(error instanceof RosterError) || error.code !== codes.INVALID_ARGUMENT) return error
  const { request, client, authorization } = presented
  const { id: applicationId, clientId } = client.application
  const fault = grantFaultOf(error)
  const why = fault === undefined ? error.message : sentenceOf(fault, presented)
  const reason = fault ?? error.reason
  const { grantType } = request
  log.info(
    { requestId: call.requestId, clientId, applicationId, grantType, reason, why, authorizationId: authorization?.id },
    'a token request was refused',
  )
  arrivals.refuse(refusalOfGrant(clientId, why), call.clientAddress)
  if (fault === undefined) return error
  return new RosterError('INVALID_ARGUMENT', 'INVALID_GRANT', toldOf(fault, presented, call), { cause: fault })
}

function toldOf(fault: GrantFault, presented: PresentedBy, call: Pick<Call, 'requestId'>): string {
  const { request, client, what } = presented
  const isProved = methodOf(client.application) !== 'none'
  // The contract of refresh tokens: whoever comes with one that was used before reads it.
  if (isProved || fault === 'refresh-reuse') return sentenceOf(fault === 'client' ? 'unknown' : fault, presented)
  return (what === 'code' && verifierFault(request.codeVerifier)) || `${oneOfAll[what]} ${whichInLog(call)}`
}

const oneOfAll = {
  code: 'code: it is unknown, expired or used, or client_id, redirect_uri, code_verifier or the DPoP proof does not fit it.',
  'refresh-token':
    'refresh_token: it is unknown or expired, client_id or the DPoP proof does not fit it, or its sign-in is over.',
}

function sentenceOf(fault: GrantFault, { request: { codeVerifier }, what, authorization }: PresentedBy): string {
  const name = what === 'code' ? 'code' : 'refresh_token'
  switch (fault) {
    case 'client':
      return `${name}: it is another application's.`
    case 'unknown':
      return `${name}: it is none that this application got, or it is long over.`
    case 'expired':
      return what === 'code' ? 'code: it is older than 60 seconds.' : 'refresh_token: it has expired.'
    case 'code-reuse':
      return 'code: it was used before. All that came of it has ended.'
    case 'refresh-reuse':
      return 'refresh_token: one of this sign-in was used before, and came again, so somebody else may have it. All that came of the sign-in has ended.'
    case 'redirect-uri':
      return 'redirect_uri: it is another one than at the authorization endpoint.'
    case 'verifier':
      return authorization?.state.challenge === undefined
        ? 'code_verifier: the code was asked for without a code_challenge, so it must not come.'
        : (verifierFault(codeVerifier) ?? 'code_verifier: it does not fit the code_challenge.')
    case 'key':
      return `DPoP: the proof must be by the key that the ${name} is bound to.`
    case 'factor':
      return `${name}: a second factor is demanded by now. Send the person to the authorization endpoint again.`
    case 'revoked':
      return `${name}: its sign-in is over, since the application revoked it.`
    case 'signed-out':
      return `${name}: its sign-in is over, since the session has ended.`
    case 'surplus':
      return `${name}: its sign-in is over, since there were too many newer ones.`
    case 'shut-out':
      return `${name}: its sign-in is over, since the person may not use the application any more, or could not meanwhile.`
  }
}

/** What a request alone shows of a verifier that does not fit. */
function verifierFault(verifier: string): string | undefined {
  if (verifier === '') return 'code_verifier: it is missing.'
  return /^[\w.~-]{43,128}$/.test(verifier)
    ? undefined
    : 'code_verifier: it must be 43 to 128 letters, digits, and characters of -._~ (RFC 7636).'
}
