import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { freePort } from '../../../deploy/local/ports.ts'
import { authorizePath, redeem, redirectUri } from '../../examples/sign-in.ts'
import { unique } from '../../examples/people.ts'
import { withoutChromium } from '../../support/browsers/chromium.ts'
import { openPlace, type Place } from '../sign-in/place.ts'
import { keycloak } from './keycloak.ts'
import { lemonldap } from './lemonldap.ts'
import { secondRoster } from './second-roster.ts'
import type { ForeignUpstream } from './upstream.ts'

let place: Place
let application: { projectId: string; appId: string; clientId: string; clientSecret: string }

describe.skipIf(withoutChromium)(`people sign in${withoutChromium} at`, () => {
  beforeAll(async () => {
    place = await openPlace({ IDP_ALLOW_PRIVATE: '127.0.0.1' })
    application = (await place.act('AddOIDCApplication', {
      projectId: place.projectId,
      name: 'Billing',
      appType: 'OIDC_APP_TYPE_WEB',
      authMethodType: 'OIDC_AUTH_METHOD_TYPE_BASIC',
      grantTypes: ['OIDC_GRANT_TYPE_AUTHORIZATION_CODE'],
      redirectUris: [redirectUri],
      firstParty: true,
    })) as typeof application
  })
  afterAll(() => place?.close())

  for (const upstream of [lemonldap, keycloak, secondRoster])
    test.skipIf(upstream.why)(`${upstream.name}, again where the application asks for it${upstream.why}`, () =>
      works(upstream),
    )
})

async function works(upstream: ForeignUpstream) {
  const port = await freePort(0)
  const name = unique('Upstream')
  const issuer = upstream.issuerAt(`http://127.0.0.1:${port}`)
  const settings = { name, issuer, autoRegister: true, clientId: 'unknown', clientSecret: 'wrong' }
  const { idpId } = await place.act('AddOrganizationOIDCIDP', settings)
  const { redirectUri: callback } = await place.act('TestOrganizationIdentityProvider', { idpId })
  const { clientId, clientSecret, stop } = await upstream.start(port, callback)
  try {
    expect(await faults(idpId)).toContain('CLIENT')
    await place.act('UpdateOrganizationIDPOIDCConfig', { idpId, clientId, clientSecret })
    expect(await faults(idpId)).toEqual([])

    await place.act('UpdateLoginPolicy', { settings: { identityProviders: { idpIds: [idpId] } } })
    const page = await place.openPage()
    const first = await signIn(upstream, page, name)
    const { user } = await place.act('GetUser', { userId: first.sub })
    const { email, ...profile } = upstream.person
    expect(user.human).toMatchObject({ profile, email: { email } })

    const isOld = () => expect(Date.now() / 1000).toBeGreaterThan(first.auth_time + (upstream.youngSeconds ?? -1) + 1)
    await vi.waitFor(isOld, 20_000)
    const { sub, auth_time: later } = await signIn(upstream, page, name, { prompt: 'login' })
    expect(sub).toBe(first.sub)
    expect(later).toBeGreaterThanOrEqual(first.auth_time)
    await page.context().close()
  } finally {
    await stop()
  }
}

async function faults(idpId: string): Promise<string[]> {
  const { checks } = await place.act('TestOrganizationIdentityProvider', { idpId })
  return (checks as { kind: string; result: string }[])
    .filter(({ result }) => result === 'IDP_CHECK_RESULT_FAULTY')
    .map(({ kind }) => kind.slice('IDP_CHECK_KIND_'.length))
}

type Page = Awaited<ReturnType<Place['openPage']>>

/** Signs the upstream's person in to the application. Returns the claims of the ID token. */
async function signIn({ signIn }: ForeignUpstream, page: Page, name: string, more: Record<string, string> = {}) {
  const came: string[] = []
  await page.route('https://app.example.com/**', (route) => {
    came.push(route.request().url())
    return route.fulfill({ body: 'here' })
  })
  await vi.waitFor(async () => {
    await page.goto(place.issuer + authorizePath(application, more))
    await page.getByRole('button', { name }).click({ timeout: 2000 })
  }, 20_000)
  await signIn(page)
  await page.waitForURL('https://app.example.com/**').catch(async (error: unknown) => {
    throw new Error(`${page.url()} shows: ${await page.locator('body').innerText()}`, { cause: error })
  })
  await page.unroute('https://app.example.com/**')
  const { body } = await redeem(application, new URL(came.at(-1)!).searchParams.get('code')!, {}, place.issuer)
  const [, payload] = (body['id_token'] as string).split('.')
  return JSON.parse(Buffer.from(payload!, 'base64url').toString()) as { sub: string; auth_time: number }
}
