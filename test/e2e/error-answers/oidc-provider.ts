import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Provider } from 'oidc-provider'
import { redirectUri } from '../../examples/sign-in.ts'
import { authorizeAddress } from './authorize-requests.ts'
import { type Client, type Kind, type Peer, visit } from './peer.ts'

const methods = { basic: 'client_secret_basic', post: 'client_secret_post', public: 'none', lax: 'client_secret_basic' }

/** An oidc-provider whose clients are registered as Roster's are. It signs everybody in who comes with a cookie. */
export async function startOidcProvider(): Promise<Peer & { stop(): void }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clients = (Object.keys(methods) as Kind[]).flatMap((kind) =>
    Array.from({ length: 2 }, (_, index) => ({
      client_id: `${kind}${index}`,
      ...(kind !== 'public' && { client_secret: `secret-of-${kind}${index}` }),
      token_endpoint_auth_method: methods[kind],
      redirect_uris: [redirectUri],
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token'],
    })),
  )
  const provider = new Provider(issuer, {
    clients,
    pkce: { required: (_, { clientId }) => !clientId.startsWith('lax') },
    responseTypes: ['code'],
    scopes: ['openid', 'offline_access', 'profile', 'email'],
    claims: { openid: ['sub'], profile: ['name'], email: ['email'] },
    features: {
      claimsParameter: { enabled: true },
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      introspection: { enabled: true, allowedPolicy: (_, client, token) => token.clientId === client.clientId },
      revocation: { enabled: true },
    },
    enableHttpPostMethods: true,
    cookies: { keys: ['a key of the oracle'], long: { sameSite: 'none' } },
    findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId, name: 'Ada' }) }),
    interactions: { url: (_, { uid }) => `/sign-in/${uid}` },
    issueRefreshToken: () => true,
    renderError: (context) => void (context.body = 'an error'),
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId })
      grant.addOIDCScope('openid offline_access profile email')
      await grant.save()
      return grant
    },
  })
  const callback = provider.callback()
  server.on('request', async (request, response) => {
    if (!request.url!.startsWith('/sign-in/')) return callback(request, response)
    if (!request.headers.cookie?.includes('knows=a-password')) return response.end('Who are you?')
    return provider.interactionFinished(request, response, { login: { accountId: 'ada' } })
  })
  const turns = [...clients]
  const peer: Peer = {
    issuer,
    endpoints: {
      authorize: `${issuer}/auth`,
      token: `${issuer}/token`,
      userinfo: `${issuer}/me`,
      introspect: `${issuer}/token/introspection`,
      revoke: `${issuer}/token/revocation`,
    },
    async newClient(kind) {
      const next = turns.findIndex(({ client_id }) => client_id.startsWith(kind))
      const { client_id, client_secret = '' } = turns[next]!
      // The next time it is another one's turn.
      turns.push(...turns.splice(next, 1))
      return { kind, clientId: client_id, clientSecret: client_secret }
    },
    async signIn(client: Client) {
      const jar = new Map([['knows', 'a-password']])
      await visit(peer, authorizeAddress(peer, client), jar)
      jar.delete('knows')
      return jar
    },
  }
  return {
    ...peer,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}
