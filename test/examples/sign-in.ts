import { createHash } from 'node:crypto'
import type { JsonObject } from '@bufbuild/protobuf'
import { inject } from 'vitest'
import { type ExampleApplication, newApplication } from './applications.ts'
import { basic, sendForm, tokenPath } from './oauth.ts'
import type { ExampleHuman } from './people.ts'
import { openBrowserAt, readText } from '../support/browsers/browser.ts'

export { formOf, readText, type Shown } from '../support/browsers/browser.ts'

/** Where applications of tests get their answers. */
export const redirectUri = 'https://app.example.com/callback?of=tests'
export const verifier = 'a verifier of at least 43 characters, as RFC 7636'.replaceAll(/[ ,]/g, '-')

/** Adds a web application of the person's own organization, which asks for no consent. */
export function newWebApplication(organization: string, projectId: string, more: JsonObject = {}) {
  return newApplication(organization, projectId, {
    appType: 'OIDC_APP_TYPE_WEB',
    authMethodType: 'OIDC_AUTH_METHOD_TYPE_BASIC',
    grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE'],
    redirectUris: [redirectUri],
    firstParty: true,
    ...more,
  })
}

/** A browser at the Roster of the run, unless another one is named. `cookie`: one that it has. */
export function openBrowser(url = inject('roster').url, cookie = '') {
  return openBrowserAt(url, cookie)
}

/** The path of an authorization request. An empty parameter is not sent. */
export function authorizePath({ clientId }: ExampleApplication, more: Record<string, string> = {}): string {
  const parameters = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid profile',
    state: 'a state & more',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...more,
  }
  return `/oauth/v2/authorize?${String(new URLSearchParams(Object.entries(parameters).filter(([, value]) => value)))}`
}

/** The address that the person's browser brings to an application, after the pages that it needs. */
export async function callbackOf(person: ExampleHuman, path: string, browser = openBrowser()): Promise<URL> {
  const { userName: login_name, password } = person
  let shown = await browser.visit(path)
  if (shown.body.includes('name="password"'))
    shown = await browser.submit(shown, { action: 'sign-in', login_name, password })
  if (shown.body.includes('value="allow"')) shown = await browser.submit(shown, { action: 'allow' })
  if (shown.location !== '') return new URL(shown.location)
  const [, link] = /<a[^>]* href="([^"]+)"/.exec(shown.body)!
  return new URL(readText(link!))
}

/** A code for an application, from a person who signs in. */
export async function newCode(
  person: ExampleHuman,
  application: ExampleApplication,
  more: Record<string, string> = {},
  browser = openBrowser(),
): Promise<string> {
  return (await callbackOf(person, authorizePath(application, more), browser)).searchParams.get('code')!
}

/** Sends a code to the token endpoint as an application does that has a secret, or none. An empty parameter is not sent. */
export function redeem(
  { clientId, clientSecret }: ExampleApplication,
  code: string,
  more: Record<string, string> = {},
  url = inject('roster').url,
  headers: Record<string, string> = {},
) {
  const isPublic = clientSecret === ''
  const form = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
    ...(isPublic && { client_id: clientId }),
    ...more,
  }
  return sendForm(tokenPath, Object.fromEntries(Object.entries(form).filter(([, value]) => value !== '')), {
    headers: { ...(!isPublic && basic(clientId, clientSecret)), ...headers },
    url,
  })
}

/** Uses a refresh token as the application does. */
export function refresh(application: ExampleApplication, refreshToken: string, url = inject('roster').url) {
  const form = { grant_type: 'refresh_token', refresh_token: refreshToken, redirect_uri: '', code_verifier: '' }
  return redeem(application, '', form, url)
}
