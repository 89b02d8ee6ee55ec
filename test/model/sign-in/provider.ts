import * as fc from 'fast-check'
import { expect } from 'vitest'
import { readText, type Shown } from '../../examples/sign-in.ts'
import type { PersonThere } from '../../support/upstreams/people-upstream.ts'
import type { Place } from './place.ts'
import { listing, serves } from './provider-rules.ts'
import type { Model } from './rules.ts'

/** Presses the button of a provider. */
export function press(browser: Place['browsers'][number], { body, ...shown }: Shown, idpId: string): Promise<Shown> {
  const [, action] = /formaction="([^"]+\/provider)"/.exec(body)!
  const pressed = body.replace(/(<form method="post" action=")[^"]+"/, `$1${action}"`)
  return browser.submit({ ...shown, body: pressed }, { idp_id: idpId, login_name: '' })
}

/** Signs in at the provider, where a page leads by itself: where the browser comes back to then. */
export async function atProvider({ upstream }: Place, { body }: Shown, person: PersonThere): Promise<string> {
  upstream.person = person
  const { pathname, search } = await upstream.visit(readText(/<a href="([^"]+)">/.exec(body)![1]!))
  return pathname + search
}

/** Users follows idp within a second. */
async function untilKnown(model: Model, { act, home, idpId }: Place) {
  const shown = async () => (await act('GetLoginPolicy', {}, home)).policy.identityProviders ?? []
  await expect.poll(shown, { timeout: 3000 }).toEqual(serves(model) ? [idpId] : [])
}

/** What an administrator does about the provider, and a second later. */
export const change = {
  async list(model: Model, place: Place) {
    model.provider.isListed = !model.provider.isListed
    await place.act('UpdateLoginPolicy', listing(place.idpId, model.provider.isListed), place.home)
    await untilKnown(model, place)
  },
  async switch(model: Model, place: Place) {
    const { provider } = model
    const { act, home, idpId } = place
    await act(provider.isActive ? 'DeactivateOrganizationIDP' : 'ReactivateOrganizationIDP', { idpId }, home)
    provider.isActive = !provider.isActive
    await untilKnown(model, place)
  },
  async unlink({ provider }: Model, { act, people, idpId, subjects }: Place) {
    const { userId } = people.ada
    await act('RemoveIDPLink', { userId, idpId, linkedUserId: subjects.at(-1)! })
    provider.isLinked = false
  },
  async lock({ users: { ada } }: Model, { act, people }: Place) {
    await act('LockUser', { userId: people.ada.userId })
    Object.assign(ada, { locked: true, lockedBy: 'LockUser', signOuts: ada.signOuts + 1 })
  },
}

/** Whether who comes for the first time gets an account, or may connect one. */
export async function allow({ provider }: Model, place: Place, allowed: { registers: boolean; connects: boolean }) {
  const { act, home, idpId, idpName: name, upstream } = place
  const { registers, connects } = allowed
  const options = { isCreationAllowed: registers, isAutoCreation: registers, isLinkingAllowed: connects }
  const oidc = { issuer: upstream.url, clientId: 'roster' }
  await act('ReplaceOrganizationIdentityProvider', { idpId, name, oidc, options }, home)
  Object.assign(provider, allowed)
}

/** Of whom a link is taken away, who then gets another account or may connect, the model knows nothing. */
export const mayHappen: Record<keyof typeof change | 'nothing', (model: Model) => boolean> = {
  nothing: () => true,
  list: () => true,
  switch: () => true,
  unlink: ({ provider }) => !provider.registers && !provider.connects,
  lock: ({ users }) => !users.ada.locked,
}

/** What happens while a person is at the provider: mostly nothing. */
export const meanwhile = fc.constantFrom(
  ...['', '', '', ''].map(() => undefined),
  ...(Object.keys(change) as (keyof typeof change)[]),
)
