import { createHash } from 'node:crypto'
import { redirectUri, verifier } from '../../examples/sign-in.ts'
import { type Client, type Kind, type Peer, shown, visit } from './peer.ts'

export type Change = Record<string, string> | [string, string][]

/** The address of a request. A change names parameters; an empty one is not sent. Pairs are added. */
export function authorizeAddress({ endpoints }: Pick<Peer, 'endpoints'>, { clientId }: Client, change: Change = {}) {
  return `${endpoints.authorize}?${String(authorizeForm(clientId, change))}`
}

function authorizeForm(clientId: string, change: Change): URLSearchParams {
  const usual = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid',
    state: 'the state',
    nonce: 'the nonce',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  }
  const pairs = Array.isArray(change)
    ? [...Object.entries(usual), ...change]
    : Object.entries({ ...usual, ...change }).filter(([, value]) => value !== '')
  return new URLSearchParams(pairs)
}

export async function newCode(peer: Peer, client: Client, change: Change = {}): Promise<string> {
  const { location } = await visit(peer, authorizeAddress(peer, client, change), await peer.signIn(client))
  return new URL(location).searchParams.get('code')!
}

const noChallenge = { code_challenge: '', code_challenge_method: '' }

/** What a browser in which somebody is signed in brings to authorize. */
const atAuthorize: Record<string, Change | { change: Change; kind?: Kind; nobody?: true; post?: true }> = {
  'nothing is wrong': {},
  'without response_type': { response_type: '' },
  'response_type unknown': { response_type: 'magic' },
  'response_type token': { response_type: 'token' },
  'response_type code id_token': { response_type: 'code id_token' },
  'response_type twice': [['response_type', 'code']],
  'without scope': { scope: '', nonce: '' },
  'scope without openid': { scope: 'profile', nonce: '' },
  'scope unknown': { scope: 'openid magic' },
  'scope unknown alone': { scope: 'magic', nonce: '' },
  'scope twice': [['scope', 'openid']],
  'without client_id': { client_id: '' },
  'client_id unknown': { client_id: 'nobody' },
  'client_id twice': [['client_id', 'nobody']],
  'without redirect_uri': { redirect_uri: '' },
  'redirect_uri of nobody': { redirect_uri: 'https://evil.example.com/' },
  'redirect_uri with more': { redirect_uri: `${redirectUri}&more=1` },
  'redirect_uri twice': [['redirect_uri', redirectUri]],
  'redirect_uri no address': { redirect_uri: 'magic' },
  'state twice': [['state', 'the state']],
  'nonce twice': [['nonce', 'the nonce']],
  'an unknown parameter twice': [
    ['magic', '1'],
    ['magic', '1'],
  ],
  'prompt none of nobody': { change: { prompt: 'none' }, nobody: true },
  'prompt none login': { prompt: 'none login' },
  'prompt none of who is signed in': { prompt: 'none' },
  'prompt unknown': { prompt: 'magic' },
  'without code_challenge': { ...noChallenge, nonce: '' },
  'without code_challenge, which it may': {
    change: { ...noChallenge, nonce: '' },
    kind: 'lax',
  },
  'without code_challenge, but its method': { code_challenge: '' },
  'code_challenge plain': { code_challenge_method: 'plain' },
  'code_challenge without its method': { code_challenge_method: '' },
  'code_challenge of an unknown method': { code_challenge_method: 'S512' },
  'code_challenge too short': { code_challenge: 'short' },
  'code_challenge plain, of who may leave it out': { change: { code_challenge_method: 'plain' }, kind: 'lax' },
  request: { request: 'eyJhbGciOiJub25lIn0.e30.' },
  request_uri: { request_uri: 'https://app.example.com/request' },
  registration: { registration: '{}' },
  'max_age a word': { max_age: 'soon' },
  'max_age negative': { max_age: '-1' },
  'max_age a fraction': { max_age: '1.5' },
  'response_mode unknown': { response_mode: 'magic' },
  'response_mode fragment': { response_mode: 'fragment' },
  'response_mode form_post and another error': { response_mode: 'form_post', prompt: 'none login' },
  'claims no JSON': { claims: 'magic' },
  'id_token_hint no token': { id_token_hint: 'magic' },
  'id_token_hint no token, without a page': { id_token_hint: 'magic', prompt: 'none' },
  'acr_values unknown': { acr_values: 'magic' },
  'display unknown': { display: 'magic' },
  'ui_locales unknown': { ui_locales: 'tlh' },
  'response_mode fragment and an error': { response_mode: 'fragment', code_challenge_method: 'plain' },
  'a nonce in place of code_challenge, with openid': { ...noChallenge, nonce: 'the nonce' },
  'a nonce in place of code_challenge, without openid': { ...noChallenge, scope: 'profile' },
  'a nonce in place of code_challenge, of a public client': { change: noChallenge, kind: 'public' },
  'an error of nobody': { change: { response_type: 'magic' }, nobody: true },
  'a wrong redirect_uri of nobody': { change: { redirect_uri: 'https://evil.example.com/' }, nobody: true },
  'two errors: client_id and response_type': { client_id: 'nobody', response_type: 'magic' },
  'two errors: redirect_uri and response_type': { redirect_uri: 'https://evil.example.com/', response_type: 'magic' },
  'a POST, without response_type': { change: { response_type: '' }, post: true },
}

/** Each by its name. */
export const authorizeRequests = Object.fromEntries(
  Object.entries(atAuthorize).map(([name, of]) => [`authorize, ${name}`, authorizing(of)]),
)

function authorizing(of: (typeof atAuthorize)[string]) {
  const {
    change,
    kind = 'basic',
    nobody,
    post,
  } = ('change' in of && typeof of['change'] === 'object' ? of : { change: of }) as {
    change: Change
    kind?: Kind
    nobody?: true
    post?: true
  }
  return async (peer: Peer) => {
    const client = await peer.newClient(kind)
    const jar = nobody ? new Map<string, string>() : await peer.signIn(client)
    const arrival = post
      ? await visit(peer, peer.endpoints.authorize, jar, {
          method: 'POST',
          body: authorizeForm(client.clientId, change),
        })
      : await visit(peer, authorizeAddress(peer, client, change), jar)
    return shown(peer, arrival)
  }
}
