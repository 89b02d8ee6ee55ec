import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { type CryptoKey, exportJWK, generateKeyPair, SignJWT } from 'jose'
import { type PeopleUpstream, startPeopleUpstream } from './people-upstream.ts'

/** An answer of the oidc-provider that is behind. */
export interface HonestAnswer {
  status: number
  body: any
}

/** What comes in place of it: bytes, a text, an object as JSON, or whatever is done with the response. */
export type Lying = string | Buffer | object | ((response: ServerResponse) => void)
export type Lie = (honest: HonestAnswer) => Lying | Promise<Lying>

/** The addresses of an oidc-provider that Roster asks. */
export const asked = {
  description: '/.well-known/openid-configuration',
  keys: '/jwks',
  token: '/token',
  userinfo: '/me',
} as const

export interface HostileUpstream extends PeopleUpstream {
  /** The lies that are told, by what is asked. */
  lies: Partial<Record<keyof typeof asked, Lie>>
  /** How often each was asked for. */
  count: Record<keyof typeof asked, number>
  /** Its public key, and the secret that it shares with Roster. */
  jwk: Record<string, unknown>
  secret: string
  /** Signs claims as it would, or by another key. */
  sign(claims: object, header?: object, by?: CryptoKey): Promise<string>
}

/**
 * An oidc-provider behind a server that lies: where no lie is told, what it says comes through as it is. Its keys have an
 * address of their own at each description, so that what Roster remembers of them is not in the way.
 */
export async function startHostileUpstream(secret: string): Promise<HostileUpstream> {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const about = { kid: 'one', alg: 'RS256', use: 'sig' }
  const hostile: HostileUpstream = Object.assign(
    await startPeopleUpstream(secret, {
      jwks: { keys: [{ ...(await exportJWK(privateKey)), ...about }] },
      answer(request, response) {
        const what = nameOf(request)
        if (!what || request.headers['x-honest'] !== undefined) return false
        hostile.count[what] += 1
        const lie = hostile.lies[what] ?? (({ body }) => body)
        void honestly(request).then(async (honest) => {
          if (what === 'description') honest.body.jwks_uri += `?${hostile.count.description}`
          await tell(response, honest.status, await lie(honest))
        })
        return true
      },
    }),
    {
      lies: {},
      count: { description: 0, keys: 0, token: 0, userinfo: 0 },
      jwk: { ...(await exportJWK(publicKey)), ...about },
      secret,
      sign: (claims: object, header = {}, by = privateKey) =>
        new SignJWT({ ...claims }).setProtectedHeader({ alg: 'RS256', kid: 'one', ...header }).sign(by, {
          crit: { more: true },
        }),
    },
  )
  return hostile
}

function nameOf({ url }: IncomingMessage) {
  const { pathname } = new URL(url!, 'http://here')
  return (Object.keys(asked) as (keyof typeof asked)[]).find((name) => asked[name] === pathname)
}

/** What the oidc-provider would say. */
async function honestly(request: IncomingMessage): Promise<HonestAnswer> {
  const { host, authorization, 'content-type': type } = request.headers
  const body = request.method === 'POST' ? await text(request) : undefined
  const headers = { 'x-honest': '1', ...(authorization && { authorization }), ...(type && { 'content-type': type }) }
  const answer = await fetch(`http://${host}${request.url}`, {
    method: request.method!,
    headers,
    ...(body !== undefined && { body }),
  })
  return { status: answer.status, body: await answer.json() }
}

function tell(response: ServerResponse, status: number, told: Lying) {
  if (typeof told === 'function') return told(response)
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(typeof told === 'string' || Buffer.isBuffer(told) ? told : JSON.stringify(told))
}
