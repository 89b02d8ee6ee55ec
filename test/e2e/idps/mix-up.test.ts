import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { authorizePath, openBrowser } from '../../examples/sign-in.ts'
import { comeBack, expectNothingToConnect, leave, openPlace, type Place, words } from './hostile-stage.ts'
import { claimsOf, errorOf, identityOf, leadsTo, press } from './provider-stage.ts'

// Two tenants, each with a provider of its own: what the one says proves nobody at the other (RFC 9700, 4.4).

const { house } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'

let ours: Place
let theirs: Place
beforeAll(async () => {
  if (house) [ours, theirs] = await Promise.all([openPlace(), openPlace()])
}, 60_000)
afterAll(async () => {
  await Promise.all([ours?.upstream.stop(), theirs?.upstream.stop()])
})

/** How often each provider was asked for tokens. */
const exchanged = () => [ours.upstream.count.token, theirs.upstream.count.token]

/** Where the other provider sends a browser that came with a request of this one. */
async function answeredElsewhere(leaving: string, { upstream }: Place): Promise<URL> {
  const to = new URL(leaving)
  upstream.person = { sub: 'mallory', claims: claimsOf('Mallory') }
  return upstream.visit(`${upstream.url}${to.pathname}${to.search}`)
}

describe.skipIf(!house)(`of two providers${why},`, () => {
  test('the answer of the other one proves nobody, and its code goes nowhere', async () => {
    for (const sends of ['itself', 'nobody', 'the right one'] as const) {
      const browser = openBrowser()
      const leaving = await leave(browser, ours)
      const back = await answeredElsewhere(leadsTo(leaving), theirs)
      expect(back.searchParams.get('iss')).toBe(theirs.upstream.url)
      if (sends === 'nobody') back.searchParams.delete('iss')
      const before = exchanged()
      if (sends === 'the right one') {
        back.searchParams.set('iss', ours.upstream.url)
        // Who lies so gets the code to the provider that did not give it.
        before[0]! += 1
      }
      const shown = await browser.visit(back.pathname + back.search)
      expect([sends, errorOf(shown)]).toEqual([sends, expect.stringContaining(words.invalid)])
      expect([sends, exchanged()]).toEqual([sends, before])
      await expectNothingToConnect(browser, shown, ours)
    }
  })

  test('where a provider does not say who it is, a code goes to it alone', async () => {
    const browser = openBrowser()
    const back = await answeredElsewhere(leadsTo(await leave(browser, ours)), theirs)
    back.searchParams.delete('iss')
    ours.upstream.lies = {
      description: ({ body }) => ({ ...body, authorization_response_iss_parameter_supported: undefined }),
    }
    const [asked, stranger] = exchanged()
    const shown = await browser.visit(back.pathname + back.search)
    expect(errorOf(shown)).toContain(words.invalid)
    expect(exchanged()).toEqual([asked! + 1, stranger])
  })

  test('an answer that came to the address of another provider is not taken', async () => {
    const browser = openBrowser()
    const leaving = await leave(browser, ours)
    const right = await ours.upstream.visit(leadsTo(leaving))
    const before = exchanged()
    const wrong = right.pathname.replace(ours.idpId, theirs.idpId) + right.search
    expect(errorOf(await browser.visit(wrong))).toBe('')
    expect(exchanged()).toEqual(before)
    expect((await identityOf(ours.application, await browser.visit(right.pathname + right.search)))['sub']).toBeTruthy()
  })

  test('the button of another tenant’s provider leads nowhere, pressed all the same', async () => {
    const browser = openBrowser()
    const page = await browser.visit(authorizePath(ours.application))
    expect(page.body).not.toContain(theirs.idpId)
    const described = theirs.upstream.count.description
    const shown = await press(browser, page, theirs.idpId)
    expect(errorOf(shown)).toContain(words.unavailable)
    expect(theirs.upstream.count.description).toBe(described)
  })

  test('who is called the same at both, or the same but for capitals, is somebody else', async () => {
    const subjects = ['Ada|1', 'ada|1'].flatMap((sub) => [ours, theirs].map((place) => ({ place, sub })))
    const found: string[] = []
    for (const { place, sub } of subjects) {
      const browser = openBrowser()
      const leaving = await leave(browser, place)
      place.upstream.person.sub = sub
      found.push((await identityOf(place.application, await comeBack(browser, place, leaving, {})))['sub'])
    }
    expect(new Set(found).size).toBe(subjects.length)
  })

  test('an answer with two of a parameter, with an error beside the code, or with neither proves nobody', async () => {
    const markup = '"><i>here</i>'
    const changes: Record<string, (said: URLSearchParams) => void> = {
      'two codes': (said) => said.append('code', 'another'),
      'two states': (said) => said.append('state', 'another'),
      'two issuers': (said) => said.append('iss', theirs.upstream.url),
      'an error beside': (said) => said.append('error', markup),
      'an error alone': (said) => (said.delete('code'), said.append('error', markup)),
      nothing: (said) => said.delete('code'),
      'an answer in a token': (said) => (said.delete('code'), said.append('response', 'a.b.c')),
    }
    for (const [title, change] of Object.entries(changes)) {
      const browser = openBrowser()
      const back = await ours.upstream.visit(leadsTo(await leave(browser, ours)))
      change(back.searchParams)
      const before = exchanged()
      const shown = await browser.visit(back.pathname + back.search)
      expect([title, shown.location, shown.body.includes('<i>here')]).toEqual([title, '', false])
      expect([title, exchanged()]).toEqual([title, before])
    }
  })
})
