import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest'
import { admin, newMember, newOrganization, ok, unique } from '../../examples/people.ts'
import { type Answers, soundAnswers, startHostileProvider, type Upstream } from '../../support/upstreams/upstreams.ts'
import { type CallOptions, factsOf } from '../clients/call.ts'
import { over } from '../clients/encodings.ts'

const { url: publicUrl, house } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'

let owner: CallOptions
let upstream: Upstream
let other: Upstream
/** The secrets that reached each upstream. */
const secrets = { upstream: [] as string[], other: [] as string[] }

/** A provider that keeps the secrets that come, and sends browsers back to whom it is told. */
function answers(kept: string[]): Answers {
  return {
    ...soundAnswers,
    '/token': (response) => {
      const [, basic = ''] = (response.req.headers.authorization ?? '').split(' ')
      kept.push(decodeURIComponent(Buffer.from(basic, 'base64').toString()))
      response.writeHead(400).end('{"error":"invalid_grant"}')
    },
    '/authorize': (response) => {
      const to = new URL(response.req.url!, 'http://upstream').searchParams.get('redirect_uri')!
      response.writeHead(302, { location: `${to}?error=login_required&state=roster` }).end()
    },
  }
}

beforeAll(async () => {
  ;[upstream, other] = await Promise.all([
    startHostileProvider(answers(secrets.upstream)),
    startHostileProvider(answers(secrets.other)),
  ])
})
afterAll(() => Promise.all([upstream?.stop(), other?.stop()]))
// An owner has ten tests a minute.
beforeEach(async () => {
  owner = await newMember(await newOrganization(), ['ORG_OWNER'])
  for (const kept of Object.values(secrets)) kept.length = 0
})

describe.skipIf(!house).each(over('grpc'))(`TestIdentityProvider over $encoding${why}`, ({ call }) => {
  const provider = () => ({ name: unique('Provider'), clientId: 'roster', issuer: upstream.url })
  const resultsOf = ({ checks }: { checks: { kind: string; result: string; problem?: string }[] }) =>
    Object.fromEntries(checks.map(({ kind, result }) => [kind.slice('IDP_CHECK_KIND_'.length), result.slice(17)]))
  const sound = {
    DISCOVERY: 'PASSED',
    CLOCK: 'PASSED',
    ENDPOINTS: 'PASSED',
    KEYS: 'PASSED',
    CLIENT: 'PASSED',
    REDIRECT_URI: 'PASSED',
    CLAIMS: 'PASSED',
  }

  test('shows that a provider of an organization, or of the instance, lacks nothing, and what to register there', async () => {
    const [clientSecret, ofInstance] = [unique('idp-secret'), unique('idp-secret')]
    const { idpId } = ok(await call('AddOrganizationOIDCIDP', { ...provider(), clientSecret }, owner))
    const answer = ok(await call('TestOrganizationIdentityProvider', { idpId }, owner))
    expect(resultsOf(answer)).toEqual({ SIGN_IN: 'PASSED', ...sound })
    expect(answer.redirectUri).toBe(`${publicUrl}/ui/login/idps/${idpId}/callback`)
    const { idpId: instances } = ok(await call('AddOIDCIDP', { ...provider(), clientSecret: ofInstance }, admin()))
    expect(resultsOf(ok(await call('TestIdentityProvider', { idpId: instances }, admin())))).toMatchObject(sound)
    expect(secrets.upstream).toEqual([`roster:${clientSecret}`, `roster:${ofInstance}`])
  })

  test('sends a secret to nobody but whom it was given for', async () => {
    const clientSecret = unique('idp-secret')
    const { idpId } = ok(await call('AddOrganizationOIDCIDP', { ...provider(), clientSecret }, owner))
    ok(await call('UpdateOrganizationIDPOIDCConfig', { idpId, issuer: other.url }, owner))
    const { checks } = ok(await call('TestOrganizationIdentityProvider', { idpId }, owner))
    expect(checks.find(({ kind }: { kind: string }) => kind === 'IDP_CHECK_KIND_CLIENT')).toMatchObject({
      result: 'IDP_CHECK_RESULT_FAULTY',
      problem: 'The client secret was given for another address, and goes to no other: set it anew.',
    })
    expect(secrets.other).toEqual([])
    const next = unique('idp-secret')
    ok(await call('UpdateOrganizationIDPOIDCConfig', { idpId, clientSecret: next }, owner))
    expect(resultsOf(ok(await call('TestOrganizationIdentityProvider', { idpId }, owner)))).toMatchObject(sound)
    expect(secrets.other).toEqual([`roster:${next}`])
  })

  test('sends no secret that would buy tokens of people for another address of users', async () => {
    const clientSecret = unique('idp-secret')
    const endpoints = { authorizationEndpoint: `${upstream.url}/authorize`, tokenEndpoint: `${upstream.url}/token` }
    const settings = { name: unique('Provider'), clientId: 'roster', clientSecret, idAttribute: 'sub' }
    const userEndpoint = `${upstream.url}/userinfo`
    const { idpId } = ok(await call('AddOrganizationOAuthIDP', { ...settings, ...endpoints, userEndpoint }, owner))
    const client = async () => resultsOf(ok(await call('TestOrganizationIdentityProvider', { idpId }, owner)))['CLIENT']
    expect(await client()).toBe('PASSED')
    ok(await call('UpdateOrganizationIDPOAuthConfig', { idpId, userEndpoint: `${other.url}/userinfo` }, owner))
    secrets.upstream.length = 0
    expect(await client()).toBe('FAULTY')
    expect([...secrets.upstream, ...secrets.other]).toEqual([])
    ok(await call('UpdateOrganizationIDPOAuthConfig', { idpId, clientSecret }, owner))
    expect(await client()).toBe('PASSED')
  })

  test('is refused to an owner who asks too often, and to nobody else', async () => {
    const eager = await newMember(await newOrganization(), ['ORG_OWNER'])
    const request = { name: unique('Provider'), jwtEndpoint: 'https://i.example', issuer: 'i', headerName: 'x-token' }
    const { idpId } = ok(
      await call('AddOrganizationJWTIDP', { ...request, keysEndpoint: `${upstream.url}/keys` }, eager),
    )
    for (let n = 0; n < 10; n++) ok(await call('TestOrganizationIdentityProvider', { idpId }, eager))
    const refused = factsOf(await call('TestOrganizationIdentityProvider', { idpId }, eager))
    expect(refused).toMatchObject({ code: 8, reason: 'IDP_TESTS_THROTTLED' })
    const { idpId: instances } = ok(
      await call('AddJWTIDP', { ...request, keysEndpoint: `${upstream.url}/keys` }, admin()),
    )
    ok(await call('TestIdentityProvider', { idpId: instances }, admin()))
  })
})
