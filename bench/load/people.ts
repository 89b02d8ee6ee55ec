import { createHash } from 'node:crypto'
import { formOf, openBrowserAt, readText } from '../../test/support/browsers/browser.ts'
import { openClient } from './client.ts'

/** What one person has at one application. */
export interface Family {
  clientId: string
  clientSecret: string
  loginName: string
  /** That of the browser in which the person is signed in. */
  cookie: string
  /** Waits to be redeemed. */
  code: string
  /** By whether its tokens come with an ID token. */
  refreshTokens: { openid: string; plain: string }
  accessToken: string
}

const redirectUri = 'https://app.example.com/callback'
const verifier = 'a-verifier-of-at-least-forty-three-characters'
const applications = 5
const password = 'the password of a bench'

/** Signs these people in, and gives each a family of tokens at each of some applications. */
export async function addFamilies(system: { urls: string[]; token: string }, userIds: string[]): Promise<Family[]> {
  const client = openClient(system)
  const url = publicUrlOf(system.urls[0]!)
  const { id } = await client.ask('POST', '/management/v1/projects', { name: 'Bench' })
  const clients = await Promise.all(
    Array.from({ length: applications }, (_, index) =>
      client.ask('POST', `/management/v1/projects/${id}/apps/oidc`, {
        name: `Application ${index}`,
        appType: 'OIDC_APP_TYPE_WEB',
        authMethodType: 'OIDC_AUTH_METHOD_TYPE_POST',
        grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE', 'OIDC_GRANT_TYPE_REFRESH_TOKEN'],
        redirectUris: [redirectUri],
        accessTokenType: 'OIDC_TOKEN_TYPE_JWT',
        firstParty: true,
      }),
    ),
  )
  const families: Family[] = []
  for (const userId of userIds) {
    await client.ask('POST', `/v2/users/${userId}/password`, { newPassword: { password } })
    const cookie = await signIn(url, clients[0].clientId, userId)
    for (const { clientId, clientSecret } of clients) {
      const family = {
        clientId,
        clientSecret,
        loginName: userId,
        cookie,
        code: '',
        refreshTokens: { openid: '', plain: '' },
        accessToken: '',
      }
      for (const kind of ['plain', 'openid'] as const) {
        takeCode(family, await send(url, silent(family, `${scopes[kind]} offline_access`)))
        takeTokens(family, kind, await send(url, redemption(family)))
        family.code = ''
      }
      families.push(family)
    }
  }
  client.close()
  return families
}

/** What `npm start` makes the PUBLIC_URL of a gateway: pages are shown under no other host. */
export function publicUrlOf(url: string): string {
  return `http://localhost:${new URL(url).port}`
}

/** Scopes with and without an ID token. */
const scopes = { openid: 'openid profile', plain: 'profile' }

export interface Asked {
  verb: string
  path: string
  body: string
  headers: Record<string, string>
}

/** An answer: where it leads, or what it says. */
export interface Answer {
  location: string
  body: string
  /** The name and the value of the cookie that it sets. */
  cookie?: string | undefined
}

/** An authorization request without a page, whose answer has a code. */
export function silent({ clientId, cookie }: Family, scope = scopes.openid): Asked {
  const parameters = new URLSearchParams({
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope,
    prompt: 'none',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  return { verb: 'GET', path: `/oauth/v2/authorize?${String(parameters)}`, body: '', headers: { cookie } }
}

/** What a new browser asks for first, where a person signs in with the password. */
export function firstOfSignIn(family: Family): Asked {
  const { path } = silent(family)
  return { verb: 'GET', path: path.replace('&prompt=none', ''), body: '', headers: {} }
}

/**
 * What the browser asks for after an answer: the page, with the password, or where it is sent. Undefined: it has the code,
 * which the family keeps.
 */
export function nextOfSignIn(family: Family, asked: Asked, { location, body, cookie }: Answer): Asked | undefined {
  const kept = cookie ?? asked.headers['cookie'] ?? ''
  const [, link = ''] = /<a[^>]* href="([^"]+)"/.exec(body) ?? []
  const to = location || (body.includes('name="password"') ? '' : readText(link))
  if (to.startsWith('/')) return { verb: 'GET', path: to, body: '', headers: { cookie: kept } }
  if (to !== '') {
    takeCode(family, { location: to, body })
    return undefined
  }
  const { action, fields } = formOf(body)!
  const typed = { ...fields, action: 'sign-in', login_name: family.loginName, password }
  return {
    verb: 'POST',
    path: action,
    body: String(new URLSearchParams(typed)),
    headers: { cookie: kept, 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' },
  }
}

export function redemption(family: Family): Asked {
  const { code } = family
  return form(family, { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier })
}

export function refresh(family: Family, kind: 'openid' | 'plain'): Asked {
  return form(family, { grant_type: 'refresh_token', refresh_token: family.refreshTokens[kind] })
}

/** Keeps the code of an answer to `silent`. */
export function takeCode(family: Family, { location, body }: Answer): void {
  const code = location && new URL(location).searchParams.get('code')
  if (!code) throw new Error(`no code: ${location} ${body}`)
  family.code = code
}

/** Keeps the tokens of an answer to `redemption` or `refresh`. */
export function takeTokens(family: Family, kind: 'openid' | 'plain', { body }: Answer): void {
  const tokens = JSON.parse(body) as { access_token: string; refresh_token?: string; id_token?: string }
  if ((tokens.id_token !== undefined) !== (kind === 'openid'))
    throw new Error(`an ID token is missing or not asked for`)
  if (kind === 'openid') family.accessToken = tokens.access_token
  if (tokens.refresh_token) family.refreshTokens[kind] = tokens.refresh_token
}

function form({ clientId, clientSecret }: Family, fields: Record<string, string>): Asked {
  const body = new URLSearchParams({ ...fields, client_id: clientId, client_secret: clientSecret }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return { verb: 'POST', path: '/oauth/v2/token', body, headers }
}

async function signIn(url: string, clientId: string, login_name: string): Promise<string> {
  const browser = openBrowserAt(url)
  const { path } = silent({ clientId } as Family)
  const page = await browser.visit(path.replace('prompt=none', 'prompt=login'))
  await browser.submit(page, { action: 'sign-in', login_name, password })
  return browser.cookie()
}

/** Sends it to a Roster; throws where that refuses it. */
export async function send(url: string, { verb, path, body, headers }: Asked): Promise<Answer> {
  const answer = await fetch(url + path, { method: verb, headers, redirect: 'manual', ...(body && { body }) })
  if (answer.status >= 400) throw new Error(`${verb} ${path}: ${await answer.text()}`)
  return { location: answer.headers.get('location') ?? '', body: await answer.text() }
}
