import { basic } from '../../examples/oauth.ts'
import { redirectUri, verifier } from '../../examples/sign-in.ts'

/** How a client authenticates. `lax` is one with a secret that may leave PKCE out. */
export type Kind = 'basic' | 'post' | 'public' | 'lax'

export interface Client {
  kind: Kind
  clientId: string
  clientSecret: string
}

/** A provider of OpenID Connect that is asked. */
export interface Peer {
  issuer: string
  endpoints: Record<'authorize' | 'token' | 'userinfo' | 'introspect' | 'revoke', string>
  /** Not the one of the last call. */
  newClient(kind: Kind): Promise<Client>
  /** The cookies of a browser in which somebody is signed in. */
  signIn(client: Client): Promise<Jar>
}

export type Jar = Map<string, string>

/** Where a browser came to: an address of an application, or a page. */
export interface Arrival {
  status: number
  location: string
  body: string
}

/** Sends a browser to an address of the peer, and follows the peer's own redirects. */
export async function visit({ issuer }: Peer, address: string, jar: Jar, init: RequestInit = {}): Promise<Arrival> {
  const cookie = [...jar].map((pair) => pair.join('=')).join('; ')
  const answer = await fetch(new URL(address, issuer), {
    ...init,
    redirect: 'manual',
    headers: { cookie, ...init.headers },
  })
  for (const set of answer.headers.getSetCookie()) {
    const [name, value] = set.split(';')[0]!.split('=') as [string, string]
    jar.set(name, value)
  }
  const [to, body] = [answer.headers.get('location'), await answer.text()]
  const location = to === null ? '' : new URL(to, issuer).href
  return location.startsWith(`${issuer}/`)
    ? visit({ issuer } as Peer, location, jar)
    : { status: answer.status, location, body }
}

/**
 * What an application learns: where the answer came to it, the error, and whether `iss` and `state` are right. `page`: an
 * error that the person alone sees. `sign-in`: the person is asked for a name.
 */
export function shown({ issuer }: Peer, { status, location, body }: Arrival): string {
  const form = /<form[^>]* action="https:\/\/app\.example\.com\/[^"]*"/.test(body)
  if (location === '' && !form) return status >= 400 ? 'page' : 'sign-in'
  const { search, hash } = new URL(location || redirectUri)
  const inputs = [...body.matchAll(/name="(\w+)" value="([^"]*)"/g)].map(([, name, value]): [string, string] => [
    name!,
    value!,
  ])
  const [way, of] = form
    ? ['form_post', new URLSearchParams(inputs)]
    : hash
      ? ['fragment', new URLSearchParams(hash.slice(1))]
      : ['query', new URLSearchParams(search)]
  const rest = [of.get('iss') === issuer && 'iss', of.get('state') === 'the state' && 'state'].filter(Boolean)
  return [`${way}: ${of.get('error') ?? (of.has('code') ? 'a code' : 'nothing')}`, ...rest].join(', ')
}

/** Sends a form, with the parameters that are not empty. */
export async function send(url: string, form: Form, headers: Record<string, string> = {}, method = 'POST') {
  const pairs = (Array.isArray(form) ? form : Object.entries(form)).filter(([, value]) => value !== '')
  const body = method === 'GET' ? undefined : new URLSearchParams(pairs)
  const answer = await fetch(url, { method, headers, ...(body && { body }) })
  const text = await answer.text()
  return { answer, body: (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, string> }
}

export type Form = Record<string, string> | [string, string][]

/** What a program learns: the status, the error, and the challenge with its error. */
export function told({ answer, body }: Awaited<ReturnType<typeof send>>): string {
  const challenge = answer.headers.get('www-authenticate') ?? ''
  // That of Basic says what the body says.
  const [, code = ''] = /^Bearer .*error="(\w+)"/.exec(challenge) ?? []
  const active = 'active' in body && `active: ${body['active']}`
  const scheme = challenge && `${challenge.split(' ')[0]} ${code}`.trim()
  return [`${answer.status} ${body['error'] ?? ''}`.trim(), active, scheme].filter(Boolean).join(', ')
}

/** How a client authenticates as it should: the headers, and what goes into the form. */
export function authenticate({ kind, clientId, clientSecret }: Client) {
  if (kind === 'public') return { headers: {}, form: { client_id: clientId } }
  if (kind === 'post') return { headers: {}, form: { client_id: clientId, client_secret: clientSecret } }
  return { headers: basic(clientId, clientSecret), form: {} }
}

/** The form of the first grant, and of the next one. */
export const codeGrant = { grant_type: 'authorization_code', redirect_uri: redirectUri, code_verifier: verifier }
export const refreshGrant = { grant_type: 'refresh_token' }
