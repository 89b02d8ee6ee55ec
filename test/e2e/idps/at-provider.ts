import type { JsonObject } from '@bufbuild/protobuf'
import { expect, vi } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, ok, unique } from '../../examples/people.ts'
import { authorizePath, openBrowser, readText, redeem, type Shown } from '../../examples/sign-in.ts'
import type { PeopleUpstream } from '../../support/upstreams/people-upstream.ts'
import { call, recordSecret } from '../clients/encodings.ts'

/** Adds the upstream as a provider of an organization. */
export async function newProvider(
  { url }: Pick<PeopleUpstream, 'url'>,
  clientSecret: string,
  organization: string,
  more: { autoRegister?: boolean; name?: string } = {},
): Promise<string> {
  const settings = { name: unique('Acme'), clientId: 'roster', clientSecret, issuer: url, ...more }
  return ok(await call('AddOrganizationOIDCIDP', settings, admin(organization))).idpId
}

interface Listed extends JsonObject {
  idpIds: string[]
  domains?: JsonObject[]
}

/** Sets the whole policy. The page shows what users has heard of, so that is waited for. */
export async function setPolicy(organization: string, settings: JsonObject & { identityProviders: Listed }) {
  ok(await call('UpdateLoginPolicy', { settings }, admin(organization)))
  await vi.waitFor(
    async () => {
      const { policy } = ok(await call('GetLoginPolicy', {}, admin(organization)))
      expect(policy.identityProviders ?? []).toEqual(settings.identityProviders.idpIds)
    },
    { timeout: 10_000 },
  )
}

/** What a page says of what went wrong. */
export const errorOf = ({ body }: Shown) => readText(/<p id="status"[^>]*>(.*?)<\/p>/s.exec(body)?.[1] ?? '')

/** Where a page leads that leaves Roster by itself. */
export const leadsTo = ({ body }: Shown) => readText(/<a href="([^"]+)">/.exec(body)![1]!)

export type Browser = ReturnType<typeof openBrowser>

/** Presses the button of a provider. */
export function press(browser: Browser, page: Shown, idpId: string): Promise<Shown> {
  const action = /formaction="([^"]+\/provider)"/.exec(page.body)![1]!
  const body = page.body.replace(/(<form method="post" action=")[^"]+"/, `$1${action}"`)
  return browser.submit({ ...page, body }, { idp_id: idpId, login_name: '' })
}

/** Goes where a page leads, signs in there, and comes back. */
export async function comeBack(upstream: PeopleUpstream, browser: Browser, leaving: Shown): Promise<Shown> {
  const back = await upstream.visit(leadsTo(leaving))
  return browser.visit(back.pathname + back.search)
}

/** What proves to a login application who came back from the provider. */
export async function proveAt(upstream: PeopleUpstream, idpId: string, client: { token: string }) {
  const urls = { successUrl: 'https://app.example.com/idp', failureUrl: 'https://app.example.com/failed' }
  const { authUrl } = ok(await call('StartIdentityProviderIntent', { idpId, urls, promptsLogin: true }, client))
  const browser = openBrowser()
  const { location } = await browser.visit(new URL(authUrl).pathname)
  const back = await upstream.visit(location)
  const end = new URL((await browser.visit(back.pathname + back.search)).location)
  const [idpIntentId, idpIntentToken] = [end.searchParams.get('id')!, end.searchParams.get('token')!]
  recordSecret(idpIntentToken)
  return { idpIntentId, idpIntentToken }
}

/** Signs in at a provider, by its button: the page that comes then. */
export async function comeBy(
  upstream: PeopleUpstream,
  application: ExampleApplication,
  idpId: string,
  more: Record<string, string> = {},
): Promise<{ browser: Browser; shown: Shown }> {
  const browser = openBrowser()
  const page = await browser.visit(authorizePath(application, more))
  return { browser, shown: await comeBack(upstream, browser, await press(browser, page, idpId)) }
}

/** The claims of the ID token that an application gets. */
export async function claimsOf(application: ExampleApplication, shown: Shown): Promise<Record<string, any>> {
  const code = new URL(shown.location || leadsTo(shown)).searchParams.get('code')!
  const tokens = await redeem(application, code)
  const [, payload] = (tokens.body['id_token'] as string).split('.')
  return JSON.parse(Buffer.from(payload!, 'base64url').toString()) as Record<string, any>
}
