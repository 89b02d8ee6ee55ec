import { basic } from '../../examples/oauth.ts'
import { verifier } from '../../examples/sign-in.ts'
import { type Change, newCode } from './authorize-requests.ts'
import {
  authenticate,
  type Client,
  codeGrant,
  type Form,
  type Kind,
  type Peer,
  refreshGrant,
  send,
  told,
} from './peer.ts'

/** What a program sends, each by its name. */
export const programRequests: Record<string, (peer: Peer) => Promise<string>> = {
  'token, nothing is wrong': redeeming(),
  'token by GET': async ({ endpoints }) => told(await send(endpoints.token, {}, {}, 'GET')),
  'token, nothing sent': async ({ endpoints }) => told(await send(endpoints.token, {})),
  'token, JSON': async ({ endpoints }) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"grant_type":"magic"}' }
    const answer = await fetch(endpoints.token, init)
    return told({ answer, body: (await answer.json()) as never })
  },
  'token without grant_type': redeeming({ grant_type: '' }),
  'token, grant_type unknown': redeeming({ grant_type: 'magic' }),
  'token, grant_type password': redeeming({ grant_type: 'password', username: 'ada', password: 'secret' }),
  'token, grant_type client_credentials': redeeming({ grant_type: 'client_credentials' }),
  'token, grant_type twice': redeeming([['grant_type', 'authorization_code']]),
  'token without a code': redeeming({ code: '' }),
  'token, code wrong': redeeming({ code: 'magic' }),
  'token, code twice in the form': redeeming([['code', 'magic']]),
  'token, code redeemed twice': async (peer) => {
    const given = await redeemed(peer)
    return told(await given.again())
  },
  'token, what a code gave that was redeemed twice': async (peer) => {
    const { tokens, again } = await redeemed(peer)
    await again()
    return told(await userinfo(peer, tokens['access_token']!))
  },
  'token, code of another client': async (peer) => {
    const [owner, thief] = [await peer.newClient('basic'), await peer.newClient('basic')]
    const { headers } = authenticate(thief)
    return told(await send(peer.endpoints.token, { ...codeGrant, code: await newCode(peer, owner) }, headers))
  },
  'token without redirect_uri': redeeming({ redirect_uri: '' }),
  'token, redirect_uri wrong': redeeming({ redirect_uri: 'https://evil.example.com/' }),
  'token without code_verifier': redeeming({ code_verifier: '' }),
  'token, code_verifier wrong': redeeming({ code_verifier: verifier.toUpperCase() }),
  'token, code_verifier too short': redeeming({ code_verifier: 'short' }),
  'token, code_verifier that nobody asked for': async (peer) => {
    const client = await peer.newClient('lax')
    const code = await newCode(peer, client, { code_challenge: '', code_challenge_method: '' })
    return told(await send(peer.endpoints.token, { ...codeGrant, code }, authenticate(client).headers))
  },
  'token of a public client without client_id': redeeming({ client_id: '' }, { kind: 'public' }),
  'token of a public client, code wrong': redeeming({ code: 'magic' }, { kind: 'public' }),
  'token of a public client with a secret': redeeming({ client_secret: 'magic' }, { kind: 'public' }),
  'token of nobody': redeeming({}, { headers: () => ({}) }),
  'token of an unknown client by Basic': redeeming({}, { headers: () => basic('nobody', 'secret') }),
  'token of an unknown client by the form': redeeming(
    { client_id: 'nobody', client_secret: 'magic' },
    { kind: 'post' },
  ),
  'token, secret wrong by Basic': redeeming({}, { headers: ({ clientId }) => basic(clientId, 'magic') }),
  'token, secret wrong by the form': redeeming({ client_secret: 'magic' }, { kind: 'post' }),
  'token without the secret by the form': redeeming({ client_secret: '' }, { kind: 'post' }),
  'token, Basic no Base64': redeeming({}, { headers: () => ({ authorization: 'Basic ???' }) }),
  'token, Basic without a colon': redeeming({}, { headers: () => ({ authorization: `Basic ${btoa('magic')}` }) }),
  'token, Basic of a client that uses the form': redeeming(
    { client_id: '', client_secret: '' },
    { kind: 'post', headers: ({ clientId, clientSecret }) => basic(clientId, clientSecret) },
  ),
  'token, the form of a client that uses Basic': async (peer) => {
    const client = await peer.newClient('basic')
    const { form } = authenticate({ ...client, kind: 'post' })
    return told(await send(peer.endpoints.token, { ...codeGrant, ...form, code: await newCode(peer, client) }))
  },
  'token, two authentications': async (peer) => {
    const client = await peer.newClient('basic')
    const { form } = authenticate({ ...client, kind: 'post' })
    const both = { ...codeGrant, ...form, code: await newCode(peer, client) }
    return told(await send(peer.endpoints.token, both, authenticate(client).headers))
  },
  'token, another client_id in the form than in Basic': redeeming({ client_id: 'nobody' }),
  'token, the same client_id in the form as in Basic': async (peer) => {
    const client = await peer.newClient('basic')
    const form = { ...codeGrant, client_id: client.clientId, code: await newCode(peer, client) }
    return told(await send(peer.endpoints.token, form, authenticate(client).headers))
  },
  'token, a client_assertion that is none': redeeming(
    { client_assertion: 'magic', client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' },
    { headers: () => ({}) },
  ),
  'refresh, nothing is wrong': refreshing(),
  'refresh without a token': refreshing({ refresh_token: '' }),
  'refresh, token wrong': refreshing({ refresh_token: 'magic' }),
  'refresh by an access token': async (peer) => {
    const { tokens, client } = await redeemed(peer)
    const form = { ...refreshGrant, refresh_token: tokens['access_token']! }
    return told(await send(peer.endpoints.token, form, authenticate(client).headers))
  },
  'refresh of another client': async (peer) => {
    const { tokens } = await redeemed(peer)
    const form = { ...refreshGrant, refresh_token: tokens['refresh_token']! }
    return told(await send(peer.endpoints.token, form, authenticate(await peer.newClient('basic')).headers))
  },
  'refresh, scope unknown': refreshing({ scope: 'openid magic' }),
  'refresh, scope that was not given': refreshing({ scope: 'openid profile' }),
  'userinfo without a token': async ({ endpoints }) => told(await send(endpoints.userinfo, {}, {}, 'GET')),
  'userinfo, token wrong': async (peer) => told(await userinfo(peer, 'magic')),
  'userinfo, token empty': async (peer) => told(await userinfo(peer, '')),
  'userinfo, by Basic': async ({ endpoints }) => told(await send(endpoints.userinfo, {}, basic('a', 'b'), 'GET')),
  'userinfo, by a refresh token': async (peer) =>
    told(await userinfo(peer, (await redeemed(peer)).tokens['refresh_token']!)),
  'userinfo, token in the form': async (peer) => {
    const { tokens } = await redeemed(peer)
    return told(await send(peer.endpoints.userinfo, { access_token: tokens['access_token']! }))
  },
  'userinfo, token in the address': async (peer) => {
    const { tokens } = await redeemed(peer)
    return told(await send(`${peer.endpoints.userinfo}?access_token=${tokens['access_token']}`, {}, {}, 'GET'))
  },
  'userinfo, token without openid': async (peer) => {
    const { tokens } = await redeemed(peer, 'profile')
    return told(await userinfo(peer, tokens['access_token']!))
  },
  'introspection of nonsense': asking('introspect', { token: 'magic' }),
  'introspection without a token': asking('introspect'),
  'introspection of nobody': asking('introspect', { token: 'magic' }, () => ({})),
  'introspection, secret wrong': asking('introspect', { token: 'magic' }, ({ clientId }) => basic(clientId, 'magic')),
  'introspection of another client’s token': async (peer) => {
    const { tokens } = await redeemed(peer)
    const { headers } = authenticate(await peer.newClient('basic'))
    return told(await send(peer.endpoints.introspect, { token: tokens['refresh_token']! }, headers))
  },
  'introspection, token_type_hint unknown': asking('introspect', { token: 'magic', token_type_hint: 'magic' }),
  'introspection by a public client': async (peer) => {
    const { form } = authenticate(await peer.newClient('public'))
    return told(await send(peer.endpoints.introspect, { ...form, token: 'magic' }))
  },
  'revocation of nonsense': asking('revoke', { token: 'magic' }),
  'revocation without a token': asking('revoke'),
  'revocation of nobody': asking('revoke', { token: 'magic' }, () => ({})),
  'revocation, secret wrong': asking('revoke', { token: 'magic' }, ({ clientId }) => basic(clientId, 'magic')),
  'revocation, token_type_hint unknown': asking('revoke', { token: 'magic', token_type_hint: 'magic' }),
  'revocation of another client’s token': async (peer) => {
    const { tokens } = await redeemed(peer)
    const { headers } = authenticate(await peer.newClient('basic'))
    return told(await send(peer.endpoints.revoke, { token: tokens['refresh_token']! }, headers))
  },
  'revocation by GET': async ({ endpoints }) => told(await send(endpoints.revoke, {}, {}, 'GET')),
}

function redeeming(change: Change = {}, { kind = 'basic', headers }: Sending = {}) {
  return async (peer: Peer) => {
    const client = await peer.newClient(kind)
    const own = authenticate(client)
    const right = { ...codeGrant, ...own.form, code: await newCode(peer, client) }
    const form: Form = Array.isArray(change) ? [...Object.entries(right), ...change] : { ...right, ...change }
    return told(await send(peer.endpoints.token, form, headers?.(client) ?? own.headers))
  }
}

interface Sending {
  kind?: Kind
  headers?: (client: Client) => Record<string, string>
}

/** Tokens of a flow, with offline access, and the request that redeemed the code. */
async function redeemed(peer: Peer, scope = 'openid offline_access') {
  const client = await peer.newClient('basic')
  const code = await newCode(peer, client, { scope, nonce: '' })
  const again = () => send(peer.endpoints.token, { ...codeGrant, code }, authenticate(client).headers)
  return { client, tokens: (await again()).body, again }
}

function refreshing(change: Record<string, string> = {}) {
  return async (peer: Peer) => {
    const { tokens, client } = await redeemed(peer)
    const form = { ...refreshGrant, refresh_token: tokens['refresh_token']!, ...change }
    return told(await send(peer.endpoints.token, form, authenticate(client).headers))
  }
}

function userinfo({ endpoints }: Peer, token: string) {
  return send(endpoints.userinfo, {}, { authorization: `Bearer ${token}` }, 'GET')
}

function asking(endpoint: 'introspect' | 'revoke', form: Form = {}, headers?: Sending['headers']) {
  return async (peer: Peer) => {
    const client = await peer.newClient('basic')
    return told(await send(peer.endpoints[endpoint], form, headers?.(client) ?? authenticate(client).headers))
  }
}
