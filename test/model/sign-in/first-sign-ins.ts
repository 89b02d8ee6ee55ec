import * as fc from 'fast-check'
import { decodeJwt } from 'jose'
import { expect } from 'vitest'
import type { Operation } from '../../examples/contract.ts'
import { unique, uniqueEmail } from '../../examples/people.ts'
import { authorizePath, openBrowser, readText, redeem, type Shown } from '../../examples/sign-in.ts'
import { readPage } from '../../examples/sign-in-kinds.ts'
import { command } from './command.ts'
import type { Place } from './place.ts'
import { atProvider, press } from './provider.ts'
import { isOffered } from './provider-rules.ts'
import { maySignIn, type Model } from './rules.ts'

/** Of a run: an address may register twenty in a short time. */
let left = 10

type Browser = ReturnType<typeof openBrowser>

/**
 * Somebody whom nobody knows comes by the provider, in a browser of their own: they get an account, connect Ada's, whose
 * password they know, or are told that neither is so.
 */
export const comesFirst = command(
  'first sign-in at the provider',
  fc.record({
    connects: fc.constantFrom(true, true, true, false),
    ends: fc.constantFrom<Operation>('DeactivateOrganizationIDP', 'LockUser', 'DeactivateUser', 'DeleteUser'),
  }),
  {
    check: ({ applications, provider }) => applications.own.isOpen && provider.isThere,
    async run(model, place, { connects, ends }) {
      const browser = openBrowser(place.url)
      const page = await browser.visit(authorizePath(place.applications.own))
      const isThere = page.body.includes(`value="${place.idpId}"`)
      expect(isThere).toBe(isOffered(model, { kind: 'sign in', person: undefined }))
      if (!isThere) return
      const sub = unique('sub')
      const claims = { given_name: 'Grace', family_name: 'Hopper', email: uniqueEmail() }
      const back = await atProvider(place, await press(browser, page, place.idpId), { sub, claims })
      const shown = await browser.visit(back)
      if (model.provider.registers) await expectAccount(model, place, shown, ends)
      else await expectNone(model, place, { browser, shown, sub, connects })
    },
  },
)

async function expectAccount(model: Model, place: Place, shown: Shown, ends: Operation) {
  const { applications, url, act, home, idpId } = place
  if (left-- <= 0) return
  expect(readPage(shown).kind).toBe('answer')
  const { body } = await redeem(applications.own, readPage(shown).answer!.searchParams.get('code')!, {}, url)
  const userId = decodeJwt(body.id_token).sub!
  const headers = { authorization: `Bearer ${body.access_token}` }
  const status = async () => (await fetch(`${url}/oidc/v1/userinfo`, { headers })).status
  expect(await status()).toBe(200)
  if (ends === 'DeactivateOrganizationIDP') {
    await act(ends, { idpId }, home)
    model.provider.isActive = false
  } else await act(ends, { userId })
  await expect.poll(status, { timeout: 3000 }).toBe(401)
}

async function expectNone(
  { provider, users: { ada } }: Model,
  { act, people, subjects }: Place,
  { browser, shown, sub, connects }: { browser: Browser; shown: Shown; sub: string; connects: boolean },
) {
  const said = readText(/<p id="status"[^>]*>(.*?)<\/p>/s.exec(shown.body)?.[1] ?? '')
  expect(said).toContain(provider.connects ? 'No account here is connected' : 'cannot sign in here in this way')
  if (!maySignIn(ada) || ada.hasApp) return
  const { userId, userName: login_name, password } = people.ada
  const after = await browser.submit(shown, { action: 'sign-in', login_name, password })
  expect(readPage(after).kind).toBe(provider.connects ? 'connect provider' : 'answer')
  if (provider.connects) {
    // One account has one sign-in at a provider.
    expect(after.body.includes('value="link"')).toBe(!provider.isLinked)
    const links = connects && !provider.isLinked
    expect(readPage(await browser.submit(after, { action: links ? 'link' : 'not-now' })).kind).toBe('answer')
    if (links) {
      Object.assign(provider, { isLinked: true, links: provider.links + 1 })
      subjects.push(sub)
    }
  }
  const { sessions } = await act('SearchUserSessions', { userId })
  await act('DeleteSession', { sessionId: sessions[0].id })
}
