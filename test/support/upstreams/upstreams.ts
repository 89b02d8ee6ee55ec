import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { vi } from 'vitest'

export interface Upstream {
  /** For example `http://127.0.0.1:40123`. */
  url: string
  stop(): Promise<void>
}

export async function listen(answer: (url: string) => RequestListener): Promise<Upstream> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  server.on('request', answer(url))
  return {
    url,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** An oidc-provider with the client `roster`. */
export async function startOidcProvider(client: { secret: string; redirectUri: string }): Promise<Upstream> {
  const { Provider } = await import('oidc-provider')
  // It advises whoever would run it in earnest.
  const advice = [vi.spyOn(console, 'info'), vi.spyOn(console, 'warn')].map((each) => each.mockReturnValue())
  const upstream = await listen((url) => {
    const provider = new Provider(url, {
      clients: [
        {
          client_id: 'roster',
          client_secret: client.secret,
          redirect_uris: [client.redirectUri],
          response_types: ['code'],
          grant_types: ['authorization_code'],
        },
      ],
      claims: { openid: ['sub'], profile: ['name', 'given_name', 'family_name'], email: ['email', 'email_verified'] },
      cookies: { keys: ['a key of the upstream'] },
      features: { devInteractions: { enabled: false } },
      renderError: (context) => void (context.body = 'an error'),
    })
    return provider.callback()
  })
  for (const each of advice) each.mockRestore()
  return upstream
}

/** What a server of a test answers at a path: an object in JSON, or whatever it does with the response. */
export type Answers = Record<string, object | ((response: ServerResponse) => void)>

/** A provider that answers as a test says. `{url}` in its objects is its own address. */
export async function startHostileProvider(answers: Answers): Promise<Upstream> {
  return listen((url) => (request, response) => {
    const answer = answers[new URL(request.url!, url).pathname]
    if (answer === undefined) return response.writeHead(404).end()
    if (typeof answer === 'function') return answer(response)
    return response.end(JSON.stringify(answer).replaceAll('{url}', url))
  })
}

/** The answers of a provider that lacks nothing. */
export const soundAnswers: Answers = {
  '/.well-known/openid-configuration': {
    issuer: '{url}',
    authorization_endpoint: '{url}/authorize',
    token_endpoint: '{url}/token',
    jwks_uri: '{url}/keys',
    response_types_supported: ['code'],
    id_token_signing_alg_values_supported: ['RS256'],
    code_challenge_methods_supported: ['S256'],
    scopes_supported: ['openid', 'profile', 'email'],
    claims_supported: ['sub', 'email', 'email_verified', 'given_name', 'family_name'],
  },
  '/keys': { keys: [{ kty: 'RSA', use: 'sig', n: 'AQAB', e: 'AQAB' }] },
  '/token': (response) => response.writeHead(400).end('{"error":"invalid_grant"}'),
  '/authorize': (response) => response.writeHead(302, { location: `${redirectUri}?error=login_required` }).end(),
  '/user': (response) => response.writeHead(401).end(),
}

export const redirectUri = 'https://id.example.com/ui/login/idps/acme/callback'
