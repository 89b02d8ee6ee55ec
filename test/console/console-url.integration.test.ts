import { afterAll, beforeAll, expect, test } from 'vitest'
import { reasonOf } from './console-browser.ts'
import { type ConsoleHouse, me, page, type Person, startConsoleHouse } from './console-house.ts'

// A host of its own, and of its own name for browsers without https.
const origin = 'http://localhost:8443'

let house: ConsoleHouse
let ada: Person
beforeAll(async () => {
  house = await startConsoleHouse({ PUBLIC_URL: 'http://127.0.0.1:8080', CONSOLE_URL: origin })
  ada = await house.newPerson()
}, 120_000)
afterAll(() => house?.stop())

test('with CONSOLE_URL the console has a host of its own, whose pages alone count, and people sign in at PUBLIC_URL', async () => {
  const port = new URL(house.url).port
  const at = `http://localhost:${port}`
  const ask = (path: string, cookie = '') =>
    fetch(at + path, { redirect: 'manual', headers: { accept: 'text/html', cookie } })
  const elsewhere = await fetch(`${house.url}${page}`, { redirect: 'manual' })
  expect([elsewhere.status, elsewhere.headers.get('location')]).toEqual([302, `${origin}${page}&host_other=1`])

  const begun = await ask('/ui/console/sign-in?to=/ui/console/x')
  const tx = begun.headers.getSetCookie()[0]!.split(';')[0]!
  expect(tx).toMatch(/^roster-console-tx-8443=/)
  const authorize = new URL(begun.headers.get('location')!)
  expect([authorize.origin, authorize.searchParams.get('redirect_uri')]).toEqual([
    'http://127.0.0.1:8080',
    `${origin}/ui/console/callback`,
  ])
  const browser = house.openBrowser()
  const left = await browser.signIn(authorize.pathname + authorize.search, ada.name, ada.password)
  const callback = new URL(left.path, origin)
  const back = await ask(callback.pathname + callback.search, tx)
  expect([back.status, back.headers.get('location')]).toEqual([303, '/ui/console/x'])
  const set = back.headers.getSetCookie()[0]!
  expect(set).toMatch(/^roster-console-8443=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/)

  const cookie = set.split(';')[0]!
  const session = (await browser.post('/ui/console/session', { cookie })).body.session as string
  expect((await browser.call(me, session, {}, { cookie })).status).toBe(200)
  // Browsers say it to few addresses without https.
  const { 'sec-fetch-site': _, ...silent } = browser.own({ cookie, 'roster-console-session': session })
  expect((await fetch(`${at}/roster.${me}`, { method: 'POST', headers: silent, body: '{}' })).status).toBe(200)
  for (const foreign of ['http://127.0.0.1:8080', 'http://localhost:8080', at]) {
    const refused = await browser.call(me, session, {}, { cookie, origin: foreign })
    expect(reasonOf(refused)).toBe('403 ORIGIN_REFUSED')
  }
})
