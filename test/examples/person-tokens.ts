import { inject } from 'vitest'
import { type ExampleApplication, newApplication } from './applications.ts'
import { basic, issuer, sendForm } from './oauth.ts'
import type { ExampleHuman } from './people.ts'
import { newCode, openBrowser, redeem, redirectUri } from './sign-in.ts'

/** Asks for a token that is for Roster itself. */
export const itself = 'urn:zitadel:iam:org:project:id:zitadel:aud'

/** Adds a web application that asks for consent, and may act in Roster. */
export function newAskingApplication(organization: string, projectId: string, more = {}) {
  return newApplication(organization, projectId, {
    appType: 'OIDC_APP_TYPE_WEB',
    authMethodType: 'OIDC_AUTH_METHOD_TYPE_BASIC',
    grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE'],
    redirectUris: [redirectUri],
    rosterApi: true,
    ...more,
  })
}

/** An access token that a person lets an application have. */
export async function newPersonToken(
  person: ExampleHuman,
  application: ExampleApplication,
  scope = 'openid profile',
  browser = openBrowser(),
): Promise<string> {
  const { status, body } = await redeem(application, await newCode(person, application, { scope }, browser))
  if (status !== 200) throw new Error(`expected a token: ${JSON.stringify(body)}`)
  return body.access_token
}

/** Every gateway of the run. */
export function gateways(): string[] {
  return [inject('roster').url, ...(inject('roster').house ? [inject('roster').house!.secondUrl] : [])]
}

/** What a client is told of a token. */
export async function introspect(client: { clientId: string; clientSecret: string }, token: string, url = issuer()) {
  const { clientId, clientSecret } = client
  const proof = clientSecret === '' ? { client_id: clientId } : {}
  const headers = clientSecret === '' ? {} : basic(clientId, clientSecret)
  return (await sendForm('/oauth/v2/introspect', { token, ...proof }, { headers, url })).body
}

/** Revokes a token as a client. */
export async function revoke(client: { clientId: string; clientSecret: string }, token: string) {
  const { clientId, clientSecret } = client
  const proof = clientSecret === '' ? { client_id: clientId } : {}
  const headers = clientSecret === '' ? {} : basic(clientId, clientSecret)
  return sendForm('/oauth/v2/revoke', { token, ...proof }, { headers })
}

/** Whether userinfo describes the person: the status of its answer. */
export async function userinfo(token: string, url = issuer()): Promise<number> {
  return (await fetch(`${url}/oidc/v1/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status
}
