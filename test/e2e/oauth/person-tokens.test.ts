import {
  calculateJwkThumbprint,
  createRemoteJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  importPKCS8,
  jwtVerify,
} from 'jose'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { type ExampleApplication, newApi, newApplication } from '../../examples/applications.ts'
import { examplePair } from '../../examples/machines.ts'
import { basic, clientCredentials, issuer, newClient, obtainToken, sendForm, tokenPath } from '../../examples/oauth.ts'
import { admin, type ExampleHuman, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import {
  authorizePath,
  callbackOf,
  newCode,
  newWebApplication,
  openBrowser,
  redeem,
  redirectUri,
  verifier,
} from '../../examples/sign-in.ts'
import { call, recordSecret } from '../clients/encodings.ts'

const inHttp = { [oauth.allowInsecureRequests]: true }
let home: string
let projectId: string
let person: ExampleHuman
let application: ExampleApplication
/** Somebody is signed in. */
const browser = openBrowser()

beforeAll(async () => {
  home = await newOrganization()
  projectId = await newProject(home, ['editor'])
  person = await newHuman(home, { password: unique('Password'), profile: { gender: 'GENDER_DIVERSE' } })
  application = await newWebApplication(home, projectId)
  ok(await call('AddUserGrant', { userId: person.userId, projectId, roleKeys: ['editor'] }, admin(home)))
  await newCode(person, application, {}, browser)
})

const userInfo = async (token: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${issuer()}/oidc/v1/userinfo`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
  })
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
}
const tokensOf = async (more: Record<string, string> = {}, of = application) => {
  const { status, body } = await redeem(of, await newCode(person, of, more, browser))
  expect({ status, body }).toMatchObject({ status: 200 })
  return body as { access_token: string; id_token: string; scope?: string; expires_in: number }
}
const keys = createRemoteJWKSet(new URL(`${issuer()}/oauth/v2/keys`))
const verified = async (text: string, audience: string) =>
  (await jwtVerify(text, keys, { issuer: issuer(), audience })).payload

describe('oauth4webapi, which knows the issuer alone:', () => {
  test.each([
    ['RS256', 'UNSPECIFIED', 'BASIC', 'BEARER'],
    ['ES256', 'ES256', 'POST', 'JWT'],
    ['EdDSA', 'EDDSA', 'PRIVATE_KEY_JWT', 'JWT'],
    ['PS256', 'PS256', 'NONE', 'BEARER'],
  ])('a code, an ID token by %s (%s), %s, a %s token, and userinfo', async (algorithm, chosen, method, type) => {
    const app = await newWebApplication(home, projectId, {
      idTokenAlgorithm: `ID_TOKEN_ALGORITHM_${chosen}`,
      authMethodType: `OIDC_AUTH_METHOD_TYPE_${method}`,
      accessTokenType: `OIDC_TOKEN_TYPE_${type}`,
    })
    const server = await oauth.processDiscoveryResponse(
      new URL(issuer()),
      await oauth.discoveryRequest(new URL(issuer()), inHttp),
    )
    const client = { client_id: app.clientId, id_token_signed_response_alg: algorithm }
    const [state, nonce] = [oauth.generateRandomState(), oauth.generateRandomNonce()]
    const code_verifier = oauth.generateRandomCodeVerifier()
    const code_challenge = await oauth.calculatePKCECodeChallenge(code_verifier)
    const url = new URL(server.authorization_endpoint!)
    url.search = authorizePath(app, {
      state,
      nonce,
      code_challenge,
      scope: 'openid profile email',
      max_age: '600',
    }).split('?')[1]!
    const callback = await callbackOf(person, url.pathname + url.search, browser)
    const parameters = oauth.validateAuthResponse(server, client, callback, state)
    const answer = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      await authentication(app, method),
      parameters,
      redirectUri,
      code_verifier,
      inHttp,
    )
    const checks = { expectedNonce: nonce, requireIdToken: true, maxAge: 600 }
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, checks)
    recordSecret(tokens.access_token)
    await oauth.validateApplicationLevelSignature(server, answer, inHttp)
    expect(tokens).toMatchObject({ token_type: 'bearer', expires_in: 900, scope: 'openid profile email' })
    const claims = oauth.getValidatedIdTokenClaims(tokens)!
    expect(decodeProtectedHeader(tokens.id_token!)).toEqual({ alg: algorithm, typ: 'JWT', kid: expect.any(String) })
    expect(claims).toEqual({
      iss: issuer(),
      sub: person.userId,
      aud: app.clientId,
      iat: expect.any(Number),
      exp: claims.iat + 3600,
      auth_time: expect.any(Number),
      nonce,
      acr: 'urn:roster:acr:1',
      amr: ['pwd'],
      sid: expect.any(String),
    })
    const described = await oauth.userInfoRequest(server, client, tokens.access_token, inHttp)
    expect(await oauth.processUserInfoResponse(server, client, person.userId, described)).toEqual({
      sub: person.userId,
      organization: home,
      name: 'Ada L.',
      given_name: 'Ada',
      family_name: 'Lovelace',
      preferred_username: person.userName,
      locale: 'en',
      gender: 'diverse',
      updated_at: expect.any(Number),
      email: person.email,
      email_verified: true,
    })
  })

  async function authentication({ clientSecret, appId }: ExampleApplication, method: string) {
    if (method === 'NONE') return oauth.None()
    if (method === 'BASIC') return oauth.ClientSecretBasic(clientSecret)
    if (method === 'POST') return oauth.ClientSecretPost(clientSecret)
    const { pem, privatePem } = examplePair('ES256')
    const { keyId: kid } = ok(await call('AddApplicationKey', { projectId, appId, publicKey: pem }, admin(home)))
    return oauth.PrivateKeyJwt({ key: await importPKCS8(privatePem, 'ES256'), kid })
  }
})

test('openid-client by discovery: a token bound to its key, and useless without it', async () => {
  // The client knows its redirect URI by the answer, without any query.
  const plain = 'https://app.example.com/callback'
  const { clientId, clientSecret } = await newWebApplication(home, projectId, { redirectUris: [plain] })
  const config = await openid.discovery(
    new URL(issuer()),
    clientId,
    undefined,
    openid.ClientSecretBasic(clientSecret),
    {
      execute: [openid.allowInsecureRequests],
    },
  )
  const pkceCodeVerifier = openid.randomPKCECodeVerifier()
  const DPoP = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair('ES256'))
  const parameters = {
    redirect_uri: plain,
    scope: 'openid',
    state: 'a state',
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    dpop_jkt: await DPoP.calculateThumbprint(),
  }
  const { pathname, search } = openid.buildAuthorizationUrl(config, parameters)
  const callback = await callbackOf(person, pathname + search, browser)
  const checks = { pkceCodeVerifier, expectedState: 'a state' }
  const tokens = await openid.authorizationCodeGrant(config, callback, checks, {}, { DPoP })
  recordSecret(tokens.access_token)
  expect(tokens.token_type).toBe('dpop')
  const { sub } = tokens.claims()!
  expect(await openid.fetchUserInfo(config, tokens.access_token, sub, { DPoP })).toMatchObject({ sub: person.userId })
  expect((await userInfo(tokens.access_token)).status).toBe(401)
})

describe('a code', () => {
  test('that comes twice is refused, and the token of the first use is dead', async () => {
    const code = await newCode(person, application, {}, browser)
    const { body } = await redeem(application, code)
    expect((await userInfo(body.access_token)).status).toBe(200)
    expect(await redeem(application, code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await userInfo(body.access_token)).toMatchObject({ status: 401, body: { error: 'invalid_token' } })
  })

  test('that comes fifty times at once, over two gateways, gives tokens once, and they are dead then', async () => {
    const code = await newCode(person, application, {}, browser)
    const urls = [issuer(), inject('roster').house?.secondUrl ?? issuer()]
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => redeem(application, code, {}, urls[n % 2])))
    const [won, ...others] = answers.toSorted((left, right) => left.status - right.status)
    expect(won!.status).toBe(200)
    for (const { status, body } of others)
      expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_grant' })
    for (const url of urls) {
      const headers = { authorization: `Bearer ${won!.body.access_token}` }
      expect((await fetch(`${url}/oidc/v1/userinfo`, { headers })).status).toBe(401)
    }
  })

  test('presented wrongly is refused and stays as it was', async () => {
    const other = await newWebApplication(home, projectId)
    const code = await newCode(person, application, {}, browser)
    const wrong = [
      await redeem(other, code),
      await redeem(application, code, { redirect_uri: 'https://app.example.com/callback' }),
      await redeem(application, code, { code_verifier: `${verifier}.` }),
      await redeem(application, code, { code_verifier: '' }),
      await redeem(application, `${code.slice(0, -2)}AA`),
      await redeem(application, verifier),
    ]
    for (const { status, body } of wrong)
      expect({ status, error: body.error }).toEqual({ status: 400, error: 'invalid_grant' })
    const { body } = await redeem(application, code, { redirect_uri: '' })
    expect(body.error).toBe('invalid_request')
    expect((await redeem(application, code)).status).toBe(200)
  })

  test('without a challenge is refused with a verifier', async () => {
    const app = await newWebApplication(home, projectId)
    const asked = { code_challenge: '', code_challenge_method: '', nonce: 'n' }
    const code = await newCode(person, app, asked, browser)
    expect((await redeem(app, code)).body.error).toBe('invalid_grant')
    const { body } = await redeem(app, code, { code_verifier: '' })
    expect(decodeJwt(body.id_token)['nonce']).toBe('n')
  })

  describe('cannot be injected, nor its challenge taken away:', () => {
    const without = { code_challenge: '', code_challenge_method: '' }

    test('with a nonce in place of a challenge it brings the nonce that it was asked for with', async () => {
      const app = await newWebApplication(home, projectId)
      const stolen = await newCode(person, app, { ...without, nonce: 'of the victim' }, browser)
      const { body } = await redeem(app, stolen, { code_verifier: '' })
      // The attacker's own session at the application asked with another one.
      expect(decodeJwt(body.id_token)['nonce']).toBe('of the victim')
    })

    test('without a challenge it is nothing to an application that proves no more who it is', async () => {
      const app = await newWebApplication(home, projectId)
      const code = await newCode(person, app, { ...without, nonce: 'n' }, browser)
      const oidcConfig = { authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE' }
      ok(await call('PatchApplication', { projectId, appId: app.appId, oidcConfig }, admin(home)))
      const answer = async (text: string) =>
        (await redeem({ ...app, clientSecret: '' }, text, { code_verifier: '', client_id: app.clientId })).body.error
      // Once it is known as public.
      await expect.poll(() => answer('none')).toBe('invalid_grant')
      expect(await answer(code)).toBe('invalid_grant')
    })

    test('a request whose challenge was taken out gives nothing to an application that sent one', async () => {
      const [web, lax] = [
        await newWebApplication(home, projectId),
        await newWebApplication(home, projectId, { allowMissingPkce: true }),
      ]
      for (const [app, more] of [
        [web, { nonce: 'n' }],
        [lax, {}],
        [lax, { nonce: 'n' }],
      ] as const)
        expect((await redeem(app, await newCode(person, app, { ...without, ...more }, browser))).body.error).toBe(
          'invalid_grant',
        )
      const page = await newApplication(home, projectId, {
        appType: 'OIDC_APP_TYPE_USER_AGENT',
        authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE',
        redirectUris: [redirectUri],
        firstParty: true,
      })
      for (const [app, more] of [
        [page, { nonce: 'n' }],
        [web, {}],
        [web, { nonce: 'n', scope: 'profile' }],
      ] as const) {
        const { location } = await browser.visit(authorizePath(app, { ...without, ...more }))
        const { searchParams } = new URL(location)
        expect([searchParams.get('error'), searchParams.get('code')]).toEqual(['invalid_request', null])
      }
    })
  })

  test('of a public client needs no secret; a machine, an API and a client without a proof get nothing', async () => {
    const native = await newApplication(home, projectId, {
      appType: 'OIDC_APP_TYPE_USER_AGENT',
      authMethodType: 'OIDC_AUTH_METHOD_TYPE_NONE',
      redirectUris: [redirectUri],
      firstParty: true,
    })
    expect((await redeem(native, await newCode(person, native, {}, browser))).status).toBe(200)
    const code = await newCode(person, application, {}, browser)
    const machine = await newClient()
    const asMachine = { ...application, clientId: machine.userId, clientSecret: machine.secret }
    expect((await redeem(asMachine, code)).body.error).toBe('unauthorized_client')
    expect((await redeem(await newApi(home, projectId, 'BASIC'), code)).body.error).toBe('unauthorized_client')
    expect((await redeem({ ...application, clientSecret: '' }, code)).body.error).toBe('invalid_client')
    expect((await redeem(application, '')).body.error).toBe('invalid_request')
    expect((await redeem(application, code)).status).toBe(200)
  })

  test('is not touched by an Idempotency-Key, not even by one that another request has', async () => {
    const machine = await newClient()
    const key = { 'idempotency-key': unique('key') }
    const headers = { ...basic(machine.userId, machine.secret), ...key }
    expect((await sendForm(tokenPath, { grant_type: clientCredentials }, { headers })).status).toBe(200)
    const code = await newCode(person, application, {}, browser)
    const { status, body } = await redeem(application, code, {}, issuer(), key)
    expect(status).toBe(200)
    expect((await redeem(application, code, {}, issuer(), key)).body.error).toBe('invalid_grant')
    expect((await userInfo(body.access_token)).status).toBe(401)
  })
})

describe('a token', () => {
  test('says who somebody is where the application asked for that, and in the ID token by choice alone', async () => {
    const claims = JSON.stringify({ id_token: { email: null }, userinfo: { name: { essential: true } } })
    const { access_token, id_token } = await tokensOf({ scope: 'openid', claims })
    expect(await verified(id_token, application.clientId)).toMatchObject({ email: person.email })
    expect(decodeJwt(id_token)).not.toHaveProperty('name')
    expect((await userInfo(access_token)).body).toEqual({ sub: person.userId, organization: home, name: 'Ada L.' })
    const chatty = await newWebApplication(home, projectId, { idTokenUserinfoAssertion: true })
    const { id_token: full } = await tokensOf({ scope: 'openid profile' }, chatty)
    expect(decodeJwt(full)).toMatchObject({ name: 'Ada L.', preferred_username: person.userName })
    expect(decodeJwt(full)).not.toHaveProperty('email')
  })

  test('has roles where they are asked for, by the choice of the application, and in the form of ZITADEL', async () => {
    const app = await newWebApplication(home, projectId, {
      accessTokenType: 'OIDC_TOKEN_TYPE_JWT',
      idTokenRoleAssertion: true,
    })
    const plain = await tokensOf({ scope: 'openid' }, app)
    const access = await verified(plain.access_token, projectId)
    expect(access).toMatchObject({ sub: person.userId, client_id: app.clientId, scope: 'openid' })
    expect(access).not.toHaveProperty('roles')
    const own = [{ organization: home, roles: ['editor'] }]
    expect(decodeJwt(plain.id_token)).toMatchObject({ roles: ['editor'], project_roles: own })
    expect((await userInfo(plain.access_token)).body).toEqual({ sub: person.userId, organization: home })
    const asked = await tokensOf({ scope: 'openid urn:zitadel:iam:org:project:roles phone' }, app)
    expect(asked.scope).toBe('openid urn:zitadel:iam:org:project:roles')
    const { primaryDomain } = ok(await call('GetOrganization', { orgId: home }, admin(home))).organization
    const map = { editor: { [home]: primaryDomain } }
    const maps = {
      roles: ['editor'],
      project_roles: own,
      'urn:zitadel:iam:org:project:roles': map,
      [`urn:zitadel:iam:org:project:${projectId}:roles`]: map,
    }
    expect(await verified(asked.access_token, projectId)).toMatchObject(maps)
    expect((await userInfo(asked.access_token)).body).toMatchObject(maps)
  })

  test('opens userinfo alone, and ends with the session; in the words of another it is none', async () => {
    const own = openBrowser()
    const code = await newCode(person, application, {}, own)
    const { access_token: token, id_token } = (await redeem(application, code)).body
    const asCaller = { token, organization: home }
    expect((await call('GetMyUser', {}, asCaller)).error).toMatchObject({ code: 16 })
    expect((await userInfo(id_token)).status).toBe(401)
    expect((await userInfo(token)).body['sub']).toBe(person.userId)
    ok(await call('DeleteSession', { sessionId: decodeJwt(id_token)['sid'] as string }, admin(home)))
    await expect.poll(async () => (await userInfo(token)).status).toBe(401)
  })

  test('for Roster itself is one where the application may act there', async () => {
    const itself = { scope: 'openid urn:zitadel:iam:org:project:id:zitadel:aud' }
    const app = await newWebApplication(home, projectId, { rosterApi: true, accessTokenType: 'OIDC_TOKEN_TYPE_JWT' })
    const { access_token: token, scope } = await tokensOf(itself, app)
    expect(scope).toBe(itself.scope)
    expect((await verified(token, issuer())).aud).toEqual([issuer()])
    expect(ok(await call('GetMyUser', {}, { token, organization: home })).user).toMatchObject({ userId: person.userId })
    const refused = await callbackOf(person, authorizePath(application, itself), browser)
    expect(refused.searchParams.get('error')).toBe('invalid_scope')
  })

  test('lives as long as the application says, and says that it began earlier for late clocks', async () => {
    const app = await newWebApplication(home, projectId, { accessTokenLifetime: '60s', clockSkew: '5s' })
    const { expires_in, id_token } = await tokensOf({}, app)
    expect(expires_in).toBe(60)
    const { iat, exp } = decodeJwt(id_token)
    expect(exp! - iat!).toBe(3600)
  })

  test('of a machine is answered as before', async () => {
    const machine = await newClient({ organization: home })
    const { body } = await userInfo(await obtainToken(machine, 'openid profile'))
    expect(body).toMatchObject({ sub: machine.userId, organization: home, preferred_username: machine.userName })
  })
})

describe('a hint', () => {
  test('is the only person who is answered for; one that is none is refused where no page would show it', async () => {
    const { id_token } = await tokensOf()
    const other = await newHuman(home, { password: unique('Password') })
    const asked = (id_token_hint: string, of = application) => authorizePath(of, { prompt: 'none', id_token_hint })
    const foreign = openBrowser()
    await newCode(other, application, {}, foreign)
    const answered = async (path: string, by: typeof browser) => {
      const { searchParams } = await callbackOf(person, path, by)
      return searchParams.get('error_description') ?? 'code'
    }
    expect(await answered(asked(id_token), browser)).toBe('code')
    expect(await answered(asked(id_token), foreign)).toBe('Nobody who may be answered for is signed in.')
    const otherApplication = await newWebApplication(home, projectId)
    await newCode(other, otherApplication, {}, foreign)
    const [header, , signature] = id_token.split('.')
    const altered = Buffer.from(JSON.stringify({ ...decodeJwt(id_token), iss: 'https://former.example.com' }))
    const noHints: [string, typeof application][] = [
      [id_token, otherApplication],
      ['no hint', application],
      [`${header}.${altered.toString('base64url')}.${signature}`, application],
    ]
    for (const [hint, of] of noHints) {
      const shown = await foreign.visit(asked(hint, of))
      expect(Object.fromEntries(new URL(shown.location).searchParams)).toMatchObject({
        error: 'login_required',
        error_description: 'id_token_hint must be an ID token that this application has from here.',
        state: 'a state & more',
        iss: issuer(),
      })
      // With a page, it is as if it had not come.
      expect(await answered(authorizePath(of, { id_token_hint: hint }), foreign)).toBe('code')
    }
  })
})

test('the key that a code was asked for with is the only one that redeems it', async () => {
  const jkt = await calculateJwkThumbprint({ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' })
  const code = await newCode(person, application, { dpop_jkt: jkt }, browser)
  expect((await redeem(application, code)).body.error).toBe('invalid_grant')
})
