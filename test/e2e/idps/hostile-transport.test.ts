import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { authorizePath, openBrowser } from '../../examples/sign-in.ts'
import { asked, type HostileUpstream } from '../../support/upstreams/hostile-upstream.ts'
import { listen, type Upstream } from '../../support/upstreams/upstreams.ts'
import { comeBack, expectNothingToConnect, leave, openPlace, type Place, words } from './hostile-stage.ts'
import { errorOf, press } from './provider-stage.ts'

// How a provider answers, whatever it says: too much, too slowly, from elsewhere.

const { house } = inject('roster')
const why = house ? '' : ' (skipped: it takes a Roster that reaches this machine)'

type What = keyof typeof asked
const all = Object.keys(asked) as What[]

let places: Record<What, Place>
beforeAll(async () => {
  if (!house) return
  const opened = await Promise.all(all.map(async (what) => [what, await openPlace()] as const))
  places = Object.fromEntries(opened) as Record<What, Place>
}, 60_000)
afterAll(async () => {
  await Promise.all(Object.values(places ?? {}).map(({ upstream }) => upstream.stop()))
})

/** The page of who comes while one of the addresses answers so. The description is asked for before the person leaves, too. */
async function comeWhile(what: What, told: (response: ServerResponse) => void) {
  const place = places[what]
  const browser = openBrowser()
  const lies: HostileUpstream['lies'] = { [what]: () => told }
  const page = await browser.visit(authorizePath(place.application))
  place.upstream.lies = what === 'description' ? lies : {}
  const began = Date.now()
  const shown =
    what === 'description'
      ? await press(browser, page, place.idpId)
      : await comeBack(browser, place, await leave(browser, place), lies)
  return { browser, place, shown, took: Date.now() - began }
}

describe.skipIf(!house)(`of a provider that answers as it likes${why},`, () => {
  test('no more than a part is read of an answer without an end', async () => {
    for (const what of all)
      for (const head of [{ 'content-type': 'application/json' }, { 'content-length': String(2 ** 40) }]) {
        let sent = 0
        const closed = Promise.withResolvers<void>()
        const { shown, took } = await comeWhile(what, (response) => {
          response.on('close', closed.resolve).on('error', closed.resolve).writeHead(200, head)
          const piece = Buffer.alloc(65_536, ' ')
          const more = () => {
            while (!response.destroyed && response.write(piece)) sent += piece.length
          }
          response.on('drain', more)
          more()
        })
        await closed.promise
        expect([what, errorOf(shown)]).toEqual([what, expect.stringContaining(words.unavailable)])
        // What lies in the buffers of the connection is sent, and not read.
        expect(sent).toBeLessThan(16 * 2 ** 20)
        expect(took).toBeLessThan(10_000)
      }
  }, 60_000)

  test('an answer that drips is given up, wherever it drips, and the page goes on', async () => {
    const slow = all.map((what) =>
      comeWhile(what, (response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        const drip = setInterval(() => response.write(' '), 100)
        response.on('close', () => clearInterval(drip))
      }),
    )
    for (const { shown, took, browser, place } of await Promise.all(slow)) {
      expect(errorOf(shown)).toContain(words.unavailable)
      expect(took).toBeLessThan(20_000)
      await expectNothingToConnect(browser, shown, place)
    }
  }, 60_000)

  describe('that sends Roster elsewhere,', () => {
    let within: Upstream
    let came = 0
    beforeAll(async () => {
      within = await listen(() => (_, response) => {
        came += 1
        response.setHeader('content-type', 'application/json')
        response.end('{}')
      })
    })
    afterAll(() => within.stop())

    test('nobody is asked there', async () => {
      for (const what of all)
        for (const status of [301, 302, 303, 307, 308]) {
          const { shown } = await comeWhile(what, (response) =>
            response.writeHead(status, { location: `${within.url}/latest/meta-data` }).end(),
          )
          expect([what, status, shown.status, errorOf(shown)]).toEqual([
            what,
            status,
            200,
            expect.stringMatching(/accepted|work/),
          ])
        }
      expect(came).toBe(0)
    }, 60_000)
  })
})
