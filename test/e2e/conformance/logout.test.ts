import { generateKeyPairSync } from 'node:crypto'
import { createRemoteJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Provider, startProvider } from './provider.ts'
import { openRelyingParty, type RelyingParty } from './relying-party.ts'

// What the conformance suite of the OpenID Foundation demands of a sign-out, a test for each module, with its name.

let provider: Provider
let op: RelyingParty
let returnUri: string
beforeAll(async () => {
  provider = await startProvider()
  op = await openRelyingParty(provider, '')
  returnUri = provider.clients[0]!.postLogoutRedirectUri
})
afterAll(() => provider?.stop())

describe('RP-Initiated OP:', () => {
  test('oidcc-rp-initiated-logout-discovery-endpoint-verification', () => {
    expect(op.metadata.end_session_endpoint).toMatch(/^https:\/\/[^#]+$/)
  })

  test('oidcc-rp-initiated-logout', async () => {
    const { answer, uri } = await signOut({ post_logout_redirect_uri: returnUri, state: 's t&' }, { sendsHint: true })
    expect([uri, answer]).toEqual([returnUri, { state: 's t&' }])
    await expectNobody()
  })

  test('oidcc-rp-initiated-logout-no-state', async () => {
    const { answer, uri } = await signOut({ post_logout_redirect_uri: returnUri }, { sendsHint: true })
    expect([uri, answer]).toEqual([returnUri, {}])
    await expectNobody()
  })

  test.each([
    ['oidcc-rp-initiated-logout-no-params', {}, false],
    ['oidcc-rp-initiated-logout-only-state', { state: 'the state' }, false],
    ['oidcc-rp-initiated-logout-no-post-logout-redirect-uri', { state: 'the state' }, true],
  ])('%s', async (_, more, sendsHint) => {
    const { answer, last } = await signOut(more, { sendsHint })
    expect({ answer, status: last.status }).toEqual({ answer: undefined, status: 200 })
    await expectNobody()
  })

  // The suite wants an error page or a question. Here it is a question, so that nobody stays signed in against their will.
  // A person compares its sentence with what was wrong.
  test.each([
    ['oidcc-rp-initiated-logout-bad-post-logout-redirect-uri', true, () => `${returnUri}/bad`, 'unregistered'],
    [
      'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri',
      true,
      () => `${returnUri}?foo=bar`,
      'unregistered',
    ],
    ['oidcc-rp-initiated-logout-no-id-token-hint', false, () => returnUri, 'unknown'],
    ['oidcc-rp-initiated-logout-modified-id-token-hint', unsigned, () => returnUri, 'unknown'],
    ['oidcc-rp-initiated-logout-bad-id-token-hint', strangers, () => returnUri, 'unknown'],
  ] as const)('%s', async (_, sendsHint, uri, wrong) => {
    const { answer, first, last } = await signOut({ post_logout_redirect_uri: uri(), state: 's' }, { sendsHint })
    expect(first.body).toContain('value="stay"')
    expect(first.body).toContain(sentences[wrong])
    expect({ answer, location: last.location, status: last.status }).toEqual({ location: '', status: 200 })
  })
})

describe('Back-Channel OP:', () => {
  test('oidcc-backchannel-logout-discovery-endpoint-verification', () => {
    expect(op.metadata).toMatchObject({
      backchannel_logout_supported: true,
      backchannel_logout_session_supported: true,
      end_session_endpoint: expect.stringMatching(/^https:/),
    })
  })

  test('oidcc-backchannel-rp-initiated-logout', async () => {
    const { receiver } = provider
    const client = await provider.addClient('BASIC', { backChannelLogoutUri: receiver.uriAt('127.0.0.1') })
    const browser = op.newBrowser()
    const { tokens, claims } = await op.authorize({}, { client, browser })
    const asked = { id_token_hint: tokens.id_token, post_logout_redirect_uri: returnUri, state: 's' }
    expect(await browser.go(op.metadata.end_session_endpoint, asked)).toMatchObject({
      uri: returnUri,
      answer: { state: 's' },
    })
    await expect.poll(() => receiver.tokensAt()).toHaveLength(1)
    expect(receiver.received[0]).toMatchObject({
      method: 'POST',
      type: expect.stringMatching(/^application\/x-www-form-urlencoded\b/),
      protocol: expect.stringMatching(/^TLSv1\.[23]$/),
    })
    const keys = createRemoteJWKSet(new URL(op.metadata.jwks_uri))
    const { payload, protectedHeader } = await jwtVerify(receiver.tokensAt()[0]!, keys)
    expect(protectedHeader).toMatchObject({ alg: decodeProtectedHeader(tokens.id_token).alg, typ: 'logout+jwt' })
    const { iat, exp, jti, ...rest } = payload
    expect(rest).toEqual({
      iss: op.metadata.issuer,
      aud: client.clientId,
      sub: claims.sub,
      sid: claims['sid'],
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    })
    expect(jti).toMatch(/./)
    // The suite does not look for it.
    expect(exp).toBe(iat! + 120)
    const { answer } = await op.arrivalOf(op.request({ prompt: 'none' }, client), browser)
    expect(answer).toMatchObject({ error: 'login_required' })
  })
})

const sentences = {
  unregistered: 'wants to send you back to is not registered',
  unknown: 'does not say in a valid way which application it comes from',
}

/** Signs in, and then out by a browser that confirms where it is asked. */
async function signOut(
  more: Record<string, string>,
  { sendsHint }: { sendsHint: boolean | ((hint: string) => unknown) },
) {
  const { tokens } = await op.authorize()
  const hint = typeof sendsHint === 'function' ? await sendsHint(tokens.id_token) : tokens.id_token
  return op.browser.go(op.metadata.end_session_endpoint, { ...(sendsHint && { id_token_hint: String(hint) }), ...more })
}

async function expectNobody() {
  const { answer } = await op.arrivalOf(op.request({ prompt: 'none' }))
  expect(answer).toMatchObject({ error: 'login_required' })
}

function unsigned(hint: string) {
  return `${Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')}.${hint.split('.')[1]}.`
}

function strangers(hint: string) {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const header = JSON.parse(Buffer.from(hint.split('.')[0]!, 'base64url').toString())
  return new SignJWT(decodeJwt(hint)).setProtectedHeader(header).sign(privateKey)
}
