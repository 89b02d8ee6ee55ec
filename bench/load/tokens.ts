import { createPrivateKey, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'

/** A machine that asks for tokens. */
export interface TokenClient {
  id: string
  secret: string
  keyId: string
  /** PKCS #8 in PEM, for ES256. */
  privateKey: string
}

/** Adds so many machines whose access tokens are JWTs. Each has a secret and a key. */
export async function addClients(
  { urls, token }: { urls: string[]; token: string },
  count: number,
): Promise<TokenClient[]> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { format: 'pem', type: 'spki' },
    privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
  })
  async function post(path: string, body: object): Promise<Record<string, string>> {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const answer = await fetch(urls[0] + path, { method: 'POST', headers, body: JSON.stringify(body) })
    // The machine may be there from an earlier run.
    if (!answer.ok && answer.status !== 409) throw new Error(`a machine could not be added: ${await answer.text()}`)
    return (await answer.json()) as Record<string, string>
  }
  return Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const id = `bench-client-${index}`
      const machine = { userId: id, userName: id, name: 'A client', accessTokenType: 'ACCESS_TOKEN_TYPE_JWT' }
      await post('/management/v1/users/machine', machine)
      const { clientSecret } = await post(`/management/v1/users/${id}/secret`, {})
      const { keyId } = await post(`/management/v1/users/${id}/keys`, { publicKey })
      return { id, secret: clientSecret!, keyId: keyId!, privateKey }
    }),
  )
}

/** The issuer of tokens there. */
export async function issuerOf({ urls }: { urls: string[] }): Promise<string> {
  const answer = await fetch(`${urls[0]}/.well-known/oauth-authorization-server`)
  return ((await answer.json()) as { issuer: string }).issuer
}

/** The form of a request with a secret. */
export function tokenBySecret({ id, secret }: TokenClient): Record<string, string> {
  return { grant_type: 'client_credentials', client_id: id, client_secret: secret }
}

const keys = new Map<string, KeyObject>()

/** The form of a request with a freshly signed assertion. */
export function tokenByAssertion({ id, keyId, privateKey }: TokenClient, issuer: string): Record<string, string> {
  let key = keys.get(privateKey)
  if (!key) keys.set(privateKey, (key = createPrivateKey(privateKey)))
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: id, sub: id, aud: issuer, iat: now, exp: now + 60, jti: randomUUID() }
  const content = [{ alg: 'ES256', kid: keyId }, claims].map((part) => encode(JSON.stringify(part))).join('.')
  const signature = sign('sha256', Buffer.from(content), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
  return {
    grant_type: 'client_credentials',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: `${content}.${signature}`,
  }
}

function encode(text: string): string {
  return Buffer.from(text).toString('base64url')
}
