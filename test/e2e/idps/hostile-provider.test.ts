import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { admin, ok } from '../../examples/people.ts'
import type { ExampleApplication } from '../../examples/applications.ts'
import { authorizePath, newWebApplication, openBrowser } from '../../examples/sign-in.ts'
import { call } from '../clients/encodings.ts'
import {
  ofClaims,
  ofDescriptions,
  ofKeys,
  ofPrivateAddresses,
  ofSignatures,
  ofTokens,
  ofUserinfo,
  type Row,
} from './hostile-answers.ts'
import { comeBack, expectNothingToConnect, leave, openPlace, type Place, reasons, words } from './hostile-stage.ts'
import { errorOf, identityOf, press } from './provider-stage.ts'

// Of an oidc-provider, as others wrote it, that a liar stands before.

const { house } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'

let place: Place
/** At which nobody even leaves for the provider. */
let other: ExampleApplication
beforeAll(async () => {
  if (!house) return
  place = await openPlace()
  other = await newWebApplication(place.home, place.application.projectId)
}, 60_000)
afterAll(() => place?.upstream.stop())

/** Why nobody came to an application, as its developers find it. */
async function reasonsOf({ projectId, appId }: ExampleApplication) {
  const { refusals = [] } = ok(await call('SearchApplicationArrivals', { projectId, appId }, admin(place.home)))
  const found = refusals.filter(({ sent }: { sent: string }) => sent === place.idpId)
  return new Set(found.map((each: any) => /: ([\w-]+)\.$/.exec(each.description)![1]))
}

async function expectRefused(rows: Row[]) {
  for (const [title, lies, said = 'invalid'] of rows) {
    const browser = openBrowser()
    const shown = await comeBack(browser, place, await leave(browser, place), lies(place.upstream))
    expect([title, shown.status, errorOf(shown)]).toEqual([title, 200, expect.stringContaining(words[said])])
    if (title === rows.at(-1)![0]) await expectNothingToConnect(browser, shown, place)
  }
}

describe.skipIf(!house)(`of a provider that another one lies for${why},`, () => {
  test('what is true signs people in: the lies alone are what is refused below', async () => {
    const browser = openBrowser()
    const shown = await comeBack(browser, place, await leave(browser, place), {})
    const { sub: userId } = await identityOf(place.application, shown)
    ok(await call('DeleteUser', { userId }, admin(place.home)))
  })

  test('an ID token that is not the right one proves nobody', () => expectRefused(ofClaims), 60_000)
  test('an ID token that it has not signed proves nobody', () => expectRefused(ofSignatures), 60_000)
  test('keys that are none prove nobody', () => expectRefused(ofKeys), 60_000)
  test('an answer for the code that is none proves nobody', () => expectRefused(ofTokens), 60_000)
  test('what is said of somebody else proves nobody', () => expectRefused(ofUserinfo), 60_000)
  test('a description that leads within is not followed', () => expectRefused(ofPrivateAddresses), 60_000)

  test('a description that is none serves nobody, neither before the person leaves nor after', async () => {
    await expectRefused(ofDescriptions)
    for (const [title, lies] of ofDescriptions) {
      const browser = openBrowser()
      const page = await browser.visit(authorizePath(other))
      place.upstream.lies = lies(place.upstream)
      const shown = await press(browser, page, place.idpId)
      expect([title, shown.status, errorOf(shown)]).toEqual([title, 200, expect.stringContaining(words.unavailable)])
    }
  }, 60_000)

  test('afterwards nobody is there and nothing is connected, and who runs the application finds why', async () => {
    const { home, ada, application } = place
    const { users } = ok(await call('SearchUsers', {}, admin(home)))
    expect(users.map(({ userId }: { userId: string }) => userId)).toEqual([ada.userId])
    expect(ok(await call('ListIDPLinks', { userId: ada.userId }, admin(home))).links ?? []).toEqual([])
    await vi.waitFor(async () => {
      expect(await reasonsOf(application)).toEqual(new Set(Object.values(reasons)))
      expect(await reasonsOf(other)).toEqual(new Set([reasons.unavailable]))
    }, 15_000)
  })
})
