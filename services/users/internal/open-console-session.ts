import type { OpenConsoleSessionRequest, OpenConsoleSessionResponse } from '#gen/roster/users/v1/internal_service'
import type { Call } from '#lib/rpc/headers'
import type { Context } from '../context.ts'
import { loadOfCode } from '../openid/authorization/later-facts.ts'
import { redeemCode } from '../openid/authorization/redeem.ts'
import { invalidGrant } from '../openid/authorization/refusals.ts'
import { readCode } from '../openid/authorization/sealed-code.ts'
import { consoleApplication, consoleCallback } from '../openid/applications/console-application.ts'
import { dropCookie, storeCookie } from '../openid/console/console-cookie.ts'
import type { PersonGrant } from '../openid/tokens/person-grant.ts'
import { rememberReads } from '../remember-reads.ts'

export async function openConsoleSession(
  own: Context,
  { code, codeVerifier, nonce, cookieHash, formerCookieHash, clientAddress }: OpenConsoleSessionRequest,
  call: Call,
): Promise<OpenConsoleSessionResponse> {
  const context = rememberReads(own)
  const read = readCode(context.keys, code)
  const presented = read && { ...read, authorization: await loadOfCode(context, read) }
  const { application, project } = consoleApplication(context.config)
  const refusal = invalidGrant('client')
  const client = { application, project, refusal, fail: () => Promise.reject(refusal) }
  const request = { redirectUri: consoleCallback(context.config), codeVerifier }
  const make = async (_context: Context, grant: PersonGrant, now: Date) => {
    // The answer to another request of this browser.
    if (grant.nonce !== nonce) throw invalidGrant('verifier')
    return { ...storeCookie(cookieHash, grant, now), response: noTokens }
  }
  await redeemCode(context, request, presented, { client, dpopThumbprint: undefined }, { ...call, clientAddress }, make)
  if (formerCookieHash.length > 0) await dropCookie(context, formerCookieHash)
  const { state, organizationId } = presented!.authorization!
  return { userId: state.userId, organizationId }
}

const noTokens = {
  accessToken: '',
  tokenType: '',
  expiresIn: 0,
  scope: undefined,
  idToken: undefined,
  refreshToken: undefined,
}
