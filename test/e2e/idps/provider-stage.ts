import { expect, vi } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, type ExampleHuman, ok, uniqueEmail } from '../../examples/people.ts'
import { authorizePath, openBrowser, readText, redeem, type Shown } from '../../examples/sign-in.ts'
import type { PeopleUpstream } from '../../support/upstreams/people-upstream.ts'
import { call } from '../clients/encodings.ts'

// What tests of sign-ins by identity providers do in a browser.

export type Browser = ReturnType<typeof openBrowser>

/** Lists providers in the policy of an organization. The page shows what users has heard of, so it is waited for. */
export async function listProviders(organization: string, idpIds: string[], more: object = {}) {
  ok(await call('UpdateLoginPolicy', { settings: { identityProviders: { idpIds }, ...more } }, admin(organization)))
  await vi.waitFor(
    async () => {
      const { policy } = ok(await call('GetLoginPolicy', {}, admin(organization)))
      expect(policy.identityProviders ?? []).toEqual(idpIds)
    },
    { timeout: 10_000 },
  )
}

/** What a provider says of somebody. */
export const claimsOf = (name: string, more: object = {}) => ({
  given_name: name,
  family_name: 'Lovelace',
  preferred_username: `${name.toLowerCase()}@there`,
  email: uniqueEmail(),
  ...more,
})

/** What a page says went wrong. */
export const errorOf = ({ body }: Shown) => readText(/<p id="status"[^>]*>(.*?)<\/p>/s.exec(body)?.[1] ?? '')

/** Where a page leads that leaves Roster by itself. */
export const leadsTo = ({ body }: Shown) => readText(/<a href="([^"]+)">/.exec(body)![1]!)

/** Presses the button of a provider. */
export function press(browser: Browser, page: Shown, idpId: string) {
  const filled = { idp_id: idpId, login_name: '' }
  const action = /formaction="([^"]+\/provider)"/.exec(page.body)![1]!
  const body = page.body.replace(/(<form method="post" action=")[^"]+"/, `$1${action}"`)
  return browser.submit({ ...page, body }, filled)
}

/** Signs in with a password. */
export function enter(browser: Browser, page: Shown, { userName, password }: ExampleHuman) {
  return browser.submit(page, { action: 'sign-in', login_name: userName, password })
}

export interface Visitor {
  application: ExampleApplication
  upstream: PeopleUpstream
}

/** Signs in at a provider, in this browser: the page that comes then. */
export async function comeByProvider(
  { application, upstream }: Visitor,
  idpId: string,
  browser = openBrowser(),
  more: Record<string, string> = {},
) {
  const page = await browser.visit(authorizePath(application, more))
  const leaving = await press(browser, page, idpId)
  const back = await upstream.visit(leadsTo(leaving))
  return { browser, back, shown: await browser.visit(back.pathname + back.search) }
}

/** The claims of the ID token that an application gets in the end. */
export async function identityOf(application: ExampleApplication, shown: Shown) {
  const location = shown.location || leadsTo(shown)
  const code = new URL(location).searchParams.get('code')!
  const tokens = await redeem(application, code)
  const [, payload] = (tokens.body['id_token'] as string).split('.')
  return JSON.parse(Buffer.from(payload!, 'base64url').toString()) as Record<string, any>
}
