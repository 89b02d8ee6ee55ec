import * as oauth from 'oauth4webapi'
import { wordsOfFailure } from '#lib/outbound/words-of-failure'
import { presetOf } from '../../presets.ts'
import { clientAuthentication, requestOptions } from '../check-client.ts'
import { clockTolerance } from '../check-clock.ts'
import { plain } from '../checks.ts'
import { readCodeAnswer } from '../code-answer.ts'
import { type Begun, type Proved, type Upstream, UpstreamError, type Wish } from '../protocol.ts'
import { describe } from './begin.ts'
import { checkCallback } from './common-callback.ts'
import { nameBeside, readClaims, readMethods, readSubject } from '../claims.ts'
import { KeysCache } from '../keys-cache.ts'
import { readSid } from './sid.ts'
import { checkTenant, ofTenant } from './tenants.ts'

const keys = new KeysCache()

/**
 * Whom an answer of the provider proves. The code goes to this provider's token endpoint alone, and `iss` is compared where
 * it is sent, or where the provider says that it sends it (RFC 9207).
 */
export async function callback(
  upstream: Upstream<'oidc'>,
  { state, nonce, codeVerifier }: Begun,
  { maxAge }: Wish,
  answer: URLSearchParams,
): Promise<Proved> {
  const { preset, tenants, idTokenAlone } = upstream.configuration
  const { hasTenants } = presetOf({ preset })
  const described = await describe(upstream)
  checkCallback(upstream.configuration, described)
  const client: oauth.Client = {
    client_id: upstream.configuration.clientId,
    [oauth.clockSkew]: Math.round(upstream.clockAhead / 1000),
    [oauth.clockTolerance]: clockTolerance,
  }
  const parameters = readCodeAnswer(described, client, answer, state)
  if ('fault' in upstream.secret) throw new UpstreamError('not-available', upstream.secret.fault)
  const authentication = clientAuthentication(described, client.client_id, upstream.secret.secret)
  if (!authentication) throw new UpstreamError('not-available', 'It takes no client secret.')
  const options = requestOptions(upstream)
  const { server, tokens } = await believed(async () => {
    const request = oauth.authorizationCodeGrantRequest
    const { redirectUri } = upstream
    const response = await request(described, client, authentication, parameters, redirectUri, codeVerifier, options)
    const server = await ofTenant(described, response)
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
      expectedNonce: nonce,
      requireIdToken: true,
      ...(maxAge !== undefined && { maxAge }),
    })
    // By a public key of the provider: neither `none` nor the shared secret signs, whatever its description says.
    await oauth.validateApplicationLevelSignature(server, response, {
      ...options,
      [oauth.jwksCache]: keys.of(server),
    })
    return { server, tokens }
  })
  const claims = oauth.getValidatedIdTokenClaims(tokens)!
  if (hasTenants) checkTenant(claims, tokens.id_token!, tenants, keys.of(server))
  const subject = readSubject(claims.sub)
  const more = await believed(async () => {
    if (server.userinfo_endpoint === undefined || idTokenAlone) return {}
    const response = await oauth.userInfoRequest(server, client, tokens.access_token, options)
    return oauth.processUserInfoResponse(server, client, subject, response)
  })
  return {
    issuer: claims.iss,
    subject,
    sid: readSid(claims['sid']),
    tokens: {
      accessToken: tokens.access_token,
      expiresIn: tokens.expires_in,
      scope: tokens.scope,
      idToken: tokens.id_token,
    },
    authTime: claims.auth_time === undefined ? undefined : new Date(claims.auth_time * 1000),
    claims: readClaims([nameBeside(answer, preset), claims, more], { preset, mapping: upstream.mapping }),
    methods: readMethods(claims),
    said: { ...claims, ...more },
  }
}

async function believed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof UpstreamError) throw error
    if (error instanceof oauth.ResponseBodyError)
      throw new UpstreamError('not-believed', `The provider refuses the code: ${plain(error.error)}.`, error)
    const isOfProtocol =
      error instanceof oauth.OperationProcessingError || error instanceof oauth.UnsupportedOperationError
    if (isOfProtocol || error instanceof oauth.WWWAuthenticateChallengeError)
      throw new UpstreamError('not-believed', plain(error.message), error)
    throw new UpstreamError('not-available', `It does not answer: ${wordsOfFailure(error)}.`, error)
  }
}
