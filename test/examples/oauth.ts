import { randomUUID } from 'node:crypto'
import { type CryptoKey, importPKCS8, type JWTHeaderParameters, SignJWT } from 'jose'
import { inject } from 'vitest'
import { recordSecret, call } from '../e2e/clients/encodings.ts'
import { examplePair } from './machines.ts'
import { admin, newOrganization, ok, unique } from './people.ts'

export type Algorithm = 'RS256' | 'ES256' | 'EdDSA'

/** A machine with a secret and a key. */
export interface ExampleClient {
  organization: string
  userId: string
  userName: string
  secret: string
  secretId: string
  keyId: string
  algorithm: Algorithm
  key: CryptoKey
}

/** A machine that can sign in by secret and by key. Its access tokens are opaque unless `jwt` is set. */
export async function newClient({
  organization,
  jwt = false,
  algorithm = 'ES256',
  userName = unique('client'),
  roles = [],
}: NewClient = {}): Promise<ExampleClient> {
  const home = organization ?? (await newOrganization())
  const accessTokenType = jwt ? 'ACCESS_TOKEN_TYPE_JWT' : 'ACCESS_TOKEN_TYPE_BEARER'
  const { userId } = ok(await call('AddMachineUser', { userName, name: 'A client', accessTokenType }, admin(home)))
  if (roles.length > 0) ok(await call('AddOrganizationMember', { userId, roles }, admin(home)))
  const { clientSecret, secretId } = ok(await call('AddMachineSecret', { userId }, admin()))
  const { keyId, key } = await newKey(userId, algorithm)
  return { organization: home, userId, userName, secret: clientSecret, secretId, keyId, algorithm, key }
}

interface NewClient {
  organization?: string
  jwt?: boolean
  algorithm?: Algorithm
  userName?: string
  /** Its roles in the organization. */
  roles?: string[]
}

/** A new key for the machine. */
export async function newKey(userId: string, algorithm: Algorithm = 'ES256', expirationDate?: string) {
  const { pem, privatePem } = examplePair(algorithm)
  const request = { userId, publicKey: pem, ...(expirationDate !== undefined && { expirationDate }) }
  const { keyId } = ok(await call('AddMachineKey', request, admin()))
  return { keyId, key: await importPKCS8(privatePem, algorithm) }
}

/** A correct assertion of the client, except for the given changes. */
export function assertion(
  { userId, keyId, algorithm, key }: Pick<ExampleClient, 'userId' | 'keyId' | 'algorithm' | 'key'>,
  { header = {}, claims = {}, key: other }: ChangedAssertion = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000)
  const own = { iss: userId, sub: userId, aud: issuer(), iat: now, exp: now + 60, jti: randomUUID() }
  return new SignJWT({ ...own, ...claims })
    .setProtectedHeader({ alg: algorithm, kid: keyId, ...header })
    .sign(other ?? key, header.crit && { crit: Object.fromEntries(header.crit.map((name) => [name, true])) })
}

interface ChangedAssertion {
  header?: Partial<JWTHeaderParameters>
  claims?: Record<string, unknown>
  key?: CryptoKey | Uint8Array
}

/** The issuer of tokens in this run. */
export function issuer(): string {
  return inject('roster').url
}

/** The answer to a form. */
export interface OAuthAnswer {
  status: number
  body: any
  headers: Headers
}

/** Sends a form to one of the OAuth paths. */
export async function sendForm(
  path: string,
  form: Record<string, string> | string,
  { headers = {}, url = issuer() }: { headers?: Record<string, string>; url?: string } = {},
): Promise<OAuthAnswer> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: typeof form === 'string' ? form : new URLSearchParams(form).toString(),
  })
  const body: any = JSON.parse(await response.text())
  recordSecret(body.access_token)
  recordSecret(body.id_token)
  return { status: response.status, body, headers: response.headers }
}

export const tokenPath = '/oauth/v2/token'
export const clientCredentials = 'client_credentials'
export const jwtBearer = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
export const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

/** HTTP Basic of a client. */
export function basic(id: string, secret: string): { authorization: string } {
  const [user, password] = [id, secret].map((part) => new URLSearchParams({ '': part }).toString().slice(1))
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` }
}

/** Gets an access token with the secret. */
export async function obtainToken(client: ExampleClient, scope?: string): Promise<string> {
  const answer = await sendForm(
    tokenPath,
    { grant_type: clientCredentials, ...(scope !== undefined && { scope }) },
    { headers: basic(client.userId, client.secret) },
  )
  if (answer.status !== 200) throw new Error(`expected a token: ${JSON.stringify(answer.body)}`)
  return answer.body.access_token
}

/** Asks for a token with an assertion as the grant itself. */
export function grantBy(text: string, more: Record<string, string> = {}, url?: string): Promise<OAuthAnswer> {
  return sendForm(tokenPath, { grant_type: jwtBearer, assertion: text, ...more }, { ...(url !== undefined && { url }) })
}

/** Asks for a token, or the other answer of a path, as a client that signs. */
export function privateKeyJwt(
  text: string,
  more: Record<string, string> = {},
  url?: string,
  path = tokenPath,
): Promise<OAuthAnswer> {
  const form = { grant_type: clientCredentials, client_assertion_type: assertionType, client_assertion: text, ...more }
  return sendForm(path, form, { ...(url !== undefined && { url }) })
}
