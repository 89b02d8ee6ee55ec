import { generateKeyPairSync } from 'node:crypto'
import { decodeProtectedHeader, jwtVerify } from 'jose'
import { afterEach, describe, expect, test } from 'vitest'
import { IDPPreset } from '#gen/roster/idp/v1/idp_config'
import { presets } from '../../presets.ts'
import { ada, askedOf, description, type Lie, startProvider, stopProviders } from '../../testing/oidc-provider.ts'
import { example } from '../../testing/example.ts'
import type { Configurations } from '../../vocabulary.ts'
import { secretToSend } from '../signed-secret.ts'
import { begin, newBegun } from './begin.ts'
import { callback } from './callback.ts'

afterEach(stopProviders)

const answer = (state: string, more: Record<string, string> = {}) => new URLSearchParams({ code: 'c', state, ...more })
const of = (issuer: string, more: Partial<Configurations['oidc']>) => ({
  clientId: 'roster',
  issuer,
  scopes: [],
  ...more,
})

describe('the common issuer of Microsoft', () => {
  const preset = IDPPreset.IDP_PRESET_MICROSOFT
  const [tenant, other] = ['11111111-2222-3333-4444-555555555555', '99999999-2222-3333-4444-555555555555']
  const common = (named = '{url}/{tenantid}/v2.0') => ({
    '/common/v2.0/.well-known/openid-configuration': {
      ...description,
      issuer: named,
      userinfo_endpoint: '{url}/userinfo',
    },
  })
  const tokenOf = (tid: unknown, of = tid) => ({
    claims: (url: string) => ({ iss: `${url}/${of as string}/v2.0`, tid }),
  })

  async function signIn(lie: Lie, more: Partial<Configurations['oidc']> = {}, sent: Record<string, string> = {}) {
    const begun = newBegun()
    const { url } = await startProvider(begun.nonce, { answers: common(), ...lie })
    const upstream = askedOf(url, { configuration: of(`${url}/common/v2.0`, { preset, ...more }) })
    return { url, proved: await callback(upstream, begun, {}, answer(begun.state, sent)) }
  }

  test('proves people by the issuer of their tenant, and vouches for no address', async () => {
    const { url, proved } = await signIn(tokenOf(tenant), { tenants: { ids: [other, tenant] } })
    expect(proved).toMatchObject({ issuer: `${url}/${tenant}/v2.0`, subject: ada.sub })
    expect(proved.claims).toEqual({ email: 'ada@example.com', givenName: 'Ada' })
  })

  const issuer = (of: string) => ({ jwk: { issuer: of } })
  test.each<[string, Lie, Partial<Configurations['oidc']>]>([
    ['of a tenant that is not listed', tokenOf(tenant), { tenants: { ids: [other] } }],
    ['that names another tenant than its issuer', tokenOf(tenant, other), {}],
    ['without a tenant', tokenOf(undefined, tenant), {}],
    ['whose tenant is a path', tokenOf('..'), {}],
    ['whose tenant is no text', tokenOf([tenant], tenant), {}],
    ['of the place of a tenant', tokenOf('{tenantid}'), {}],
    ['by the key of another tenant', { ...tokenOf(tenant), ...issuer(`https://i.example/${other}/v2.0`) }, {}],
    ['that is none', { ...tokenOf(tenant), sign: () => 'a.b.c' }, {}],
  ])('proves nobody by a token %s', async (_, lie, more) => {
    await expect(signIn(lie, more)).rejects.toMatchObject({ fault: 'not-believed' })
  })

  test('proves nobody by the answer of another issuer', async () => {
    const elsewhere = { iss: 'https://evil.example' }
    await expect(signIn(tokenOf(tenant), {}, elsewhere)).rejects.toMatchObject({ fault: 'not-asked-for' })
  })

  test.each<[string, string, Partial<Configurations['oidc']>]>([
    ['of another path', '{url}/{tenantid}/v3.0', {}],
    ['of another host', 'https://evil.example/{tenantid}/v2.0', {}],
    ['without the preset', '{url}/{tenantid}/v2.0', { preset: undefined }],
  ])('is not stood in for by a description %s', async (_, named, more) => {
    const lie = { ...tokenOf(tenant), answers: common(named) }
    await expect(signIn(lie, more)).rejects.toMatchObject({ fault: 'not-available' })
  })

  test('of one tenant looks at the list, too', async () => {
    const begun = newBegun()
    const claims = { tid: tenant }
    const { url } = await startProvider(begun.nonce, { claims })
    const configuration = of(url, { preset, tenants: { ids: [other] } })
    const proved = callback(askedOf(url, { configuration }), begun, {}, answer(begun.state))
    await expect(proved).rejects.toMatchObject({ fault: 'not-believed' })
  })
})

describe('Apple', () => {
  const preset = IDPPreset.IDP_PRESET_APPLE
  const user = JSON.stringify({ name: { firstName: 'Ada', lastName: 'Lovelace' }, email: 'forged@example.com' })

  async function signIn(claims: Record<string, unknown>, sent: Record<string, string>) {
    const begun = newBegun()
    const lie = { claims, answers: { '/.well-known/openid-configuration': { ...description, userinfo_endpoint: 5 } } }
    const { url } = await startProvider(begun.nonce, lie)
    const upstream = askedOf(url, { configuration: of(url, { preset }) })
    const to = await begin(upstream, begun, {})
    return { to, proved: await callback(upstream, begun, {}, answer(begun.state, sent)) }
  }

  test('is asked to post its answer, and says a name beside it and a yes by a text', async () => {
    const { to, proved } = await signIn({ email: 'ada@example.com', email_verified: 'true' }, { user })
    expect(Object.fromEntries(to.searchParams)).toMatchObject({
      response_mode: 'form_post',
      scope: 'openid name email',
    })
    const named = { givenName: 'Ada', familyName: 'Lovelace' }
    expect(proved.claims).toEqual({ email: 'ada@example.com', emailVerified: true, ...named })
  })

  test.each(['', '[]', '{"name":null}', '{"name":{"firstName":5,"lastName":{}}}', '{"email":"forged@example.com"}'])(
    'says nothing by %j beside its answer',
    async (user) => {
      expect((await signIn({ email_verified: 'false' }, { user })).proved.claims).toEqual({})
    },
  )

  test('gets a secret that the key of the record signed for it, for five minutes', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string
    const appleKey = { teamId: 'TEAM', keyId: 'KEY' }
    const oidc = of('https://appleid.apple.com', { preset, appleKey })
    const idp = { ...example.settings, oidc }
    const now = new Date('2026-11-30T07:00:00.5Z')
    const sent = (await secretToSend(idp, { secret: pem }, now)) as { secret: string }
    const expected = { issuer: 'TEAM', subject: 'roster', audience: 'https://appleid.apple.com' }
    const { payload } = await jwtVerify(sent.secret, publicKey, { ...expected, currentDate: now })
    expect(decodeProtectedHeader(sent.secret)).toEqual({ alg: 'ES256', kid: 'KEY' })
    expect(payload.exp! - payload.iat!).toBe(300)
    expect(await secretToSend(idp, { secret: 'no key' }, now)).toEqual({
      fault: expect.stringContaining('set it anew'),
    })
    const plain = { ...idp, oidc: of('https://i.example', {}) }
    expect(await secretToSend(plain, { secret: 'a secret' }, now)).toEqual({ secret: 'a secret' })
  })
})

test('another provider says no yes by a text, and nobody beside its answer', async () => {
  const begun = newBegun()
  const { url } = await startProvider(begun.nonce, { userinfo: { sub: ada.sub, email_verified: 'true' } })
  const user = '{"name":{"firstName":"Eve"}}'
  expect((await callback(askedOf(url), begun, {}, answer(begun.state, { user }))).claims).toEqual({})
})

test('each preset but none is in the table', () => {
  const all = Object.values(IDPPreset).filter((value) => typeof value === 'number' && value > 0)
  expect(new Set(Object.keys(presets).map(Number))).toEqual(new Set(all))
})
