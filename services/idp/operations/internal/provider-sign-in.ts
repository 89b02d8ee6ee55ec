import type {
  BeginProviderSignInRequest,
  BeginProviderSignInResponse,
  FinishProviderSignInRequest,
  FinishProviderSignInResponse,
} from '#gen/roster/idp/v1/internal_service'
import { RosterError } from '#lib/errors'
import { instance } from '#lib/instance'
import type { Call } from '#lib/rpc/headers'
import { receiverOf } from '../../client-secrets.ts'
import type { Context } from '../../context.ts'
import { wordsOf } from '../../protocols/claims.ts'
import { type Begun, type SigningInWork, UpstreamError, type Wish } from '../../protocols/protocol.ts'
import { callbackOf } from '../../protocols/redirect-uri.ts'
import { matchedRows, rowIdOf } from '../../protocols/role-rows.ts'
import { protocolWorks, signsIn } from '../../protocols/registry.ts'
import { answerTakes, upstreamOf } from '../../protocols/upstream-of.ts'
import { protocolOf } from '../../show.ts'
import { type Idp, idpNotFound } from '../../vocabulary.ts'
import { keptTokens } from './kept-tokens.ts'
import { isFirst } from './once.ts'

export async function beginProviderSignIn(
  context: Context,
  request: BeginProviderSignInRequest,
  call: Call,
): Promise<BeginProviderSignInResponse> {
  const { work, upstream, idp } = await signingIn(context, request, call)
  try {
    const url = await work.begin(upstream, begunOf(request), wishOf(request))
    return { url: url.href, headerName: idp.jwt?.headerName ?? '' }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    throw notAvailable(error)
  }
}

export async function finishProviderSignIn(
  context: Context,
  { begun, answer, tokens, withClaims, cameTo }: FinishProviderSignInRequest,
  call: Call,
): Promise<FinishProviderSignInResponse> {
  const { work, upstream, idp, organizationId } = await signingIn(context, begun!, call)
  const common = {
    autoRegister: idp.autoRegister,
    isAutoUpdate: idp.claims?.isAutoUpdate === true,
    refusesLinking: idp.refusesLinking ?? false,
    asksFirst: idp.asksFirst ?? false,
    ownerOrganizationId: organizationId === instance.id ? '' : organizationId,
  }
  try {
    if (cameTo !== callbackOf(idp)) throw new UpstreamError('not-asked-for', 'The answer came elsewhere.')
    const parameters = new URLSearchParams(answer)
    const {
      issuer,
      subject,
      authTime,
      claims,
      methods,
      once,
      said,
      sid = '',
      tokens: given,
    } = await work.callback(upstream, begunOf(begun!), wishOf(begun!), parameters, tokens)
    if (once && !(await isFirst(context, begun!.idpId, once)))
      throw new UpstreamError('not-believed', 'The token has come before.')
    const { email = '', givenName = '', familyName = '', name = '', preferredUsername = '', locale = '' } = claims
    const texts = { email, givenName, familyName, name, preferredUsername, locale, nickName: claims.nickName ?? '' }
    const words = wordsOf(methods)
    return {
      ...common,
      fault: '',
      issuer,
      subject,
      authTime: timeOf(authTime),
      sid,
      tokens:
        given && idp.sessions?.keepTokens
          ? keptTokens(given, { now: Date.now() + upstream.clockAhead, receiver: receiverOf(idp) ?? '' })
          : undefined,
      secondFactors: wordsOf(idp.claims?.secondFactor).filter((word) => words.includes(word)),
      roles: idp.roleRows?.length ? { rowIds: matchedRows(idp.roleRows, said).map(rowIdOf) } : undefined,
      claims: { ...texts, emailVerified: claims.emailVerified === true },
      said: withClaims ? textOf(said) : '',
    }
  } catch (error) {
    if (!(error instanceof UpstreamError)) throw error
    return {
      ...common,
      fault: error.fault,
      issuer: '',
      subject: '',
      claims: undefined,
      secondFactors: [],
      sid: '',
      said: '',
    }
  }
}

/** Characters of the claims that are handed on. */
const mostSaid = 20_000

function textOf(said: object): string {
  const text = JSON.stringify(said)
  return text.length > mostSaid ? '' : text
}

export function notAvailable(cause: UpstreamError): RosterError {
  const message = 'The identity provider cannot be used now.'
  return new RosterError('UNAVAILABLE', 'IDP_NOT_AVAILABLE', message, { cause })
}

// A number that is no time.
function timeOf(authTime: Date | undefined): number | undefined {
  if (authTime && Number.isNaN(authTime.getTime()))
    throw new UpstreamError('not-believed', 'The time of the sign-in is no time.')
  return authTime?.getTime()
}

// Asked at each step: a provider that was deactivated or removed meanwhile proves nobody.
async function signingIn(context: Context, { idpId, organizationId }: BeginProviderSignInRequest, call: Call) {
  const found = await context.store.load<Idp>('idp', idpId)
  const isTheirs = found && [instance.id, organizationId].includes(found.organizationId)
  if (!isTheirs || !signsIn(found.state)) throw idpNotFound()
  // The work of a protocol gets the settings of that protocol.
  const protocol = protocolOf(found.state)
  const work = protocolWorks[protocol] as unknown as SigningInWork<typeof protocol>
  const upstream = await upstreamOf(context, idpId, found.state, call.deadline - Date.now() - answerTakes)
  return { work, upstream, idp: found.state, organizationId: found.organizationId }
}

function begunOf({ state, nonce, codeVerifier }: BeginProviderSignInRequest): Begun {
  return { state, nonce, codeVerifier }
}

function wishOf({ loginHint, promptsLogin, maxAge }: BeginProviderSignInRequest): Wish {
  return { loginHint: loginHint || undefined, promptsLogin, maxAge }
}
