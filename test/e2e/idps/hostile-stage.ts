import { expect } from 'vitest'
import type { ExampleApplication } from '../../examples/applications.ts'
import { admin, type ExampleHuman, newHuman, newOrganization, ok, unique } from '../../examples/people.ts'
import { newProject } from '../../examples/projects.ts'
import { authorizePath, newWebApplication, type Shown } from '../../examples/sign-in.ts'
import { type HostileUpstream, startHostileUpstream } from '../../support/upstreams/hostile-upstream.ts'
import { call } from '../clients/encodings.ts'
import { type Said } from './hostile-answers.ts'
import { type Browser, claimsOf, enter, identityOf, leadsTo, listProviders, press } from './provider-stage.ts'

// An oidc-provider that a liar stands before, and an organization whose people sign in there.

const password = unique('Password')

export interface Place {
  home: string
  application: ExampleApplication
  upstream: HostileUpstream
  idpId: string
  ada: ExampleHuman
}

export async function openPlace(): Promise<Place> {
  const secret = unique('a secret that is long enough for a key')
  const [home, upstream] = await Promise.all([newOrganization(), startHostileUpstream(secret)])
  const application = await newWebApplication(home, await newProject(home))
  const settings = { clientId: 'roster', clientSecret: secret, issuer: upstream.url, autoRegister: true }
  const request = { ...settings, name: unique('Liar') }
  const { idpId } = ok(await call('AddOrganizationOIDCIDP', request, admin(home)))
  await listProviders(home, [idpId])
  return { home, application, upstream, idpId, ada: await newHuman(home, { password }) }
}

export const words: Record<Said, string> = {
  invalid: 'could not be accepted',
  unavailable: 'does not work at the moment',
}
export const reasons: Record<Said, string> = { invalid: 'not-believed', unavailable: 'not-available' }

/** Goes to the provider, where somebody new signs in. */
export async function leave(browser: Browser, { application, idpId, upstream }: Place): Promise<Shown> {
  upstream.person = { sub: unique('sub'), claims: claimsOf('Eve') }
  upstream.lies = {}
  return press(browser, await browser.visit(authorizePath(application)), idpId)
}

/** The page of who comes back from there with this answer. */
export async function comeBack(browser: Browser, { upstream }: Place, leaving: Shown, lies: HostileUpstream['lies']) {
  const back = await upstream.visit(leadsTo(leaving))
  upstream.lies = lies
  return browser.visit(back.pathname + back.search)
}

/** Who signs in with a password on this page is not asked to connect anything. */
export async function expectNothingToConnect(browser: Browser, shown: Shown, { application, ada }: Place) {
  expect((await identityOf(application, await enter(browser, shown, ada)))['sub']).toBe(ada.userId)
}
