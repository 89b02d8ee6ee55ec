import { presetOf } from '../../presets.ts'
import { readCodeAnswer } from '../code-answer.ts'
import { readClaims } from '../claims.ts'
import { type Begun, type Proved, type Upstream, UpstreamError, type Wish } from '../protocol.ts'
import { exchange } from './exchange.ts'
import { askForPrimaryEmail } from './primary-email.ts'
import { askForUser, subjectOf } from './user.ts'

/** Whom an answer of the provider proves: whom its address of users names for the token that the code was worth. */
export async function callback(
  upstream: Upstream<'oauth'>,
  { state, codeVerifier }: Begun,
  _wish: Wish,
  answer: URLSearchParams,
): Promise<Proved> {
  const { clientId, userEndpoint, idAttribute } = upstream.configuration
  const server = { issuer: issuerOf(upstream, answer) }
  const code = readCodeAnswer(server, { client_id: clientId }, answer, state).get('code')
  if (!code) throw new UpstreamError('not-asked-for', 'The answer has no code.')
  const tokens = await exchange(upstream, code, codeVerifier)
  const token = tokens.accessToken
  const user = await askForUser(upstream.fetch, userEndpoint, token)
  const said = { ...user, ...(await ofPreset(upstream, user, token)) }
  return {
    issuer: whoseWord(upstream.configuration),
    subject: subjectOf(user, idAttribute),
    authTime: undefined,
    tokens,
    claims: readClaims([said], upstream),
    said,
  }
}

/** What a preset knows of the person that the address of users does not say, or says by other names. */
async function ofPreset(
  { configuration, fetch }: Upstream<'oauth'>,
  user: Record<string, unknown>,
  token: string,
): Promise<Record<string, unknown>> {
  const { attributes = {}, emailsBelow } = presetOf(configuration)
  const renamed = Object.fromEntries(Object.entries(attributes).map(([claim, attribute]) => [claim, user[attribute]]))
  if (emailsBelow === undefined) return renamed
  return { ...renamed, ...(await askForPrimaryEmail(fetch, `${configuration.userEndpoint}${emailsBelow}`, token)) }
}

/**
 * Whose word a subject is. OAuth 2.0 has no issuer, so it is the address that answers and the attribute that is read: a record
 * that names others later has other people, and cannot hand out those of before.
 */
export function whoseWord({ userEndpoint, idAttribute }: { userEndpoint: string; idAttribute: string }): string {
  return `${userEndpoint}#${idAttribute}`
}

// The record names no issuer either. One that is sent has to be of where the browser was sent (RFC 9700, 4.4.2).
function issuerOf({ configuration }: Upstream<'oauth'>, answer: URLSearchParams): string {
  const endpoint = new URL(configuration.authorizationEndpoint)
  const sent = answer.get('iss') ?? endpoint.origin
  if (URL.canParse(sent) && new URL(sent).origin === endpoint.origin) return sent
  throw new UpstreamError('not-asked-for', 'The answer is of another provider.')
}
