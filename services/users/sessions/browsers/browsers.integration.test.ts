import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import { decide } from '../../pages/operations/sign-in/decide.ts'
import { deleteSession } from '../operations/session/delete-session.ts'
import {
  addPerson,
  noteApplication,
  nothingNewer,
  redirectUri,
  requestOf,
  said,
  sealedIn,
  told,
  Visitor,
} from '../../openid/authorization/testing/visitors.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { hashToken, newToken } from '../../directory/tokens/token.ts'
import { deleteBrowsers, findBrowser, renewAtOnce } from './session-cookie.ts'

let database: TestDatabase
let users: TestUsers
let domains: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  domains = await serveDomains({}, {}, { copied: nothingNewer(['client']) })
  const redirectUris = [redirectUri, otherUri]
  await noteApplication(users, 'client', { firstParty: true, redirectUris }, { organizationId: 'acme' })
  await Promise.all(['ada', 'grace', 'mallory'].map((name) => addPerson(users, name)))
}, 60_000)

afterAll(async () => {
  await Promise.all([users?.stop(), domains?.stop()])
  await database?.drop()
})

const otherUri = `${redirectUri}?of=another`
const isSignedIn = async (cookie: string) => told(await new Visitor(users, cookie).silently())['error'] === undefined

describe('a request belongs to its browser:', () => {
  test('another one, and none, see what they see of an unknown request', async () => {
    const begun = new Visitor(users)
    const page = await begun.begin()
    const [other, victim] = [new Visitor(users), new Visitor(users)]
    await other.begin()
    await victim.signIn(await victim.begin(), 'ada')
    for (const stranger of [
      other,
      victim,
      new Visitor(users),
      new Visitor(users, newToken()),
      new Visitor(users, 'x'),
    ]) {
      const unknown = await stranger.show('unknown')
      expect(said(unknown)).toBe('notice 4')
      expect(await stranger.show(page.requestId)).toEqual(unknown)
      expect(await stranger.post(page, { loginName: 'ada', password: 'ada-password' })).toEqual(unknown)
    }
    // Nobody who opened it went on with it.
    expect(await begun.show(page.requestId)).toEqual(page)
  })

  test('a form needs its token, and that of another request is none', async () => {
    const browser = new Visitor(users)
    const [page, other] = [await browser.begin(), await browser.begin()]
    for (const formToken of ['', 'x', other.formToken]) {
      const answer = await browser.post({ ...page, formToken }, { loginName: 'ada', password: 'ada-password' })
      expect(said(answer)).toBe('notice 7')
    }
    expect(said(await browser.show(page.requestId))).toBe('sign-in 0')
    const asking = await browser.signIn(await browser.begin({ prompt: 'consent' }), 'ada')
    const consents = async () => (await users.sql`select from aggregates where type = 'consent'`).count
    const before = await consents()
    const foreign = new Visitor(users)
    const choosing = await browser.begin({ prompt: 'select_account' })
    for (const formToken of ['', 'x', page.formToken, (await foreign.begin()).formToken]) {
      expect(said(await browser.decide({ ...asking, formToken }, 'allow'))).toBe('notice 7')
      expect(said(await browser.choose({ ...choosing, formToken }, ''))).toBe('notice 7')
    }
    expect(said(await browser.show(asking.requestId))).toBe(said(asking))
    expect(await browser.show(choosing.requestId)).toEqual(choosing)
    expect(await consents()).toBe(before)
    expect(told(await browser.decide(asking, 'allow'))['code']).toBeDefined()
  })
})

describe('the value of a cookie', () => {
  test('that somebody planted gets no session, whoever signs in with it', async () => {
    const planted = newToken()
    const victim = new Visitor(users, planted)
    const page = await victim.begin()
    expect(victim.cookie).toBe(planted)
    const thief = new Visitor(users, planted)
    const thiefs = await thief.begin()
    expect(told(await victim.signIn(page, 'ada'))['code']).toBeDefined()
    expect(await isSignedIn(victim.cookie)).toBe(true)
    expect(await isSignedIn(planted)).toBe(false)
    // It shows pages of begun requests, and a right password of another person leads to a browser of their own.
    expect(said(await thief.show(thiefs.requestId))).toBe('sign-in 0')
    await thief.post(thiefs, { loginName: 'ada', password: 'wrong' })
    expect(thief.cookie).toBe(planted)
    expect(said(await thief.show(thiefs.requestId))).toBe('sign-in 1')
    for (const action of ['another-account', 'register', 'cancel']) await thief.post(thiefs, { action })
    expect(said(await thief.show(thiefs.requestId))).toBe('sign-in 1')
    expect(told(await thief.signIn(thiefs, 'mallory'))['code']).toBeDefined()
    expect(await peopleOf(thief.cookie)).toEqual([await idOf('mallory')])
    expect(await peopleOf(victim.cookie)).toEqual([await idOf('ada')])
    expect(said(await victim.show(thiefs.requestId))).toBe('notice 4')
  })

  test('is replaced once: two tabs of one person get the same one, two people a browser each', async () => {
    const same = new Visitor(users)
    const tabs = [await same.begin(), await same.begin(), await same.begin()]
    const values = await Promise.all(
      tabs.map((page) => same.post(page, { loginName: 'ada', password: 'ada-password' })),
    )
    expect(new Set(values.map(({ newBrowser }) => newBrowser))).toEqual(new Set([same.cookie]))
    expect(await peopleOf(same.cookie)).toEqual([await idOf('ada')])
    for (const value of values) expect(told(value)['code']).toBeDefined()

    const browser = new Visitor(users)
    const pages = [await browser.begin(), await browser.begin()]
    const names = ['ada', 'grace']
    const answers = await Promise.all(
      pages.map((page, at) => browser.post(page, { loginName: names[at]!, password: `${names[at]!}-password` })),
    )
    for (const [at, answer] of answers.entries()) {
      expect(await peopleOf(answer.newBrowser)).toEqual([await idOf(names[at]!)])
      expect(sealedIn(users, told(answer)['code']!).granted.userId).toBe(await idOf(names[at]!))
    }
  })

  test('that a lost answer did not replace goes on by the password of whom it was for, in every request', async () => {
    const browser = new Visitor(users)
    const [page, other] = [await browser.begin(), await browser.begin()]
    const former = browser.cookie
    const first = told(await browser.post(page, { loginName: 'ada', password: 'ada-password' }))['code']
    const lost = () => new Visitor(users, former)
    // A wrong password changes nothing, and gets nothing of an answer.
    expect(said(await lost().signIn(other, 'ada', 'wrong'))).toBe('sign-in 1')
    expect(said(await lost().signIn(page, 'ada', 'wrong'))).toBe('notice 5')
    const [repeated, onward] = [lost(), lost()]
    expect(told(await repeated.signIn(page, 'ada'))['code']).toBe(first)
    expect(told(await onward.signIn(await onward.show(other.requestId), 'ada'))['code']).toBeDefined()
    expect([repeated.cookie, onward.cookie]).toEqual([browser.cookie, browser.cookie])
    const next = lost()
    expect(told(await next.signIn(await next.begin(), 'ada'))['code']).toBeDefined()
    expect(await peopleOf(browser.cookie)).toEqual([await idOf('ada')])
    // A fresh password is asked for: the answer to it can get lost, too.
    const fresh = await browser.begin({ prompt: 'login' })
    const before = new Visitor(users, browser.cookie)
    await browser.post(fresh, { loginName: 'ada', password: 'ada-password' })
    expect(told(await before.signIn(fresh, 'ada'))['code']).toBeDefined()
    expect(before.cookie).toBe(browser.cookie)
    // After a sign-out that got lost, the password leads to another browser.
    await renewAtOnce(users.sql, (await findBrowser(users.sql, browser.cookie)).browser!)
    const out = new Visitor(users, browser.cookie)
    expect(told(await out.signIn(await out.begin(), 'ada'))['code']).toBeDefined()
    expect(out.cookie).not.toBe(browser.cookie)
  })

  test('is the same for tabs that wake with a forgotten one, and is replaced where it is malformed', async () => {
    const forgotten = newToken()
    const tabs = await Promise.all([1, 2, 3].map(() => new Visitor(users, forgotten).authorize()))
    expect(tabs.map(({ newBrowser }) => newBrowser)).toEqual(['', '', ''])
    for (const tab of tabs) expect(said(await new Visitor(users, forgotten).show(requestOf(tab)))).toBe('sign-in 0')
    const malformed = new Visitor(users, 'x')
    await malformed.begin()
    expect(malformed.cookie).toMatch(/^[\w-]{43}$/)
  })

  test('may be the former one for a minute', async () => {
    const browser = new Visitor(users)
    const [page, other] = [await browser.begin(), await browser.begin()]
    const former = browser.cookie
    await browser.signIn(page, 'ada')
    const late = new Visitor(users, former)
    expect(said(await late.show(other.requestId))).toBe('sign-in 0')
    expect(told(await late.silently())['error']).toBe('login_required')
    // The present one arrived meanwhile.
    expect(told(await late.silently(() => (late.cookie = browser.cookie)))['code']).toBeDefined()
    await users.sql`update browsers set former_until = roster_now() where hash = ${hashToken(browser.cookie)}`
    expect(said(await new Visitor(users, former).show(other.requestId))).toBe('notice 4')
    expect(told(await browser.show(other.requestId))['code']).toBeDefined()
  })
})

describe('a request is answered once:', () => {
  test('fifty tabs get one code', async () => {
    const browser = new Visitor(users)
    await browser.signIn(await browser.begin(), 'ada')
    const asking = await browser.begin({ prompt: 'consent' })
    const request = { browser: browser.cookie, requestId: asking.requestId, formToken: asking.formToken }
    await decide(users, { ...request, action: 'allow' }, callIn(''))
    const answers = await Promise.all(Array.from({ length: 50 }, () => browser.show(asking.requestId)))
    expect(answers.map(said).toSorted()).toEqual(['leaving', ...Array.from({ length: 49 }, () => 'notice 5')])
  })

  test('the right password gives the same code again to its browser, for a minute, until that is redeemed', async () => {
    const browser = new Visitor(users)
    const signedIn = async () => {
      const page = await browser.begin({ prompt: 'login' })
      return { page, code: told(await browser.post(page, { loginName: 'ada', password: 'ada-password' }))['code'] }
    }
    const again = async (page: PageAnswer, visitor = browser) => {
      const answer = await visitor.signIn(page, 'ada')
      return answer.answer?.$case === 'leaving' ? told(answer)['code'] : said(answer)
    }
    const [one, two, three] = [await signedIn(), await signedIn(), await signedIn()]
    expect(new Set([one.code, two.code, three.code]).size).toBe(3)
    expect(await again(one.page)).toBe(one.code)
    expect(await again(one.page, new Visitor(users))).toBe('notice 4')
    // Another person's password is none.
    expect(said(await browser.signIn(one.page, 'grace'))).toBe('notice 5')
    expect(said(await browser.signIn(one.page, 'grace', 'ada-password'))).toBe('notice 5')
    const authorization = { type: 'authorization', id: sealedIn(users, two.code!).authorizationId }
    const { granted: payload } = sealedIn(users, two.code!)
    await users.store.execute({
      aggregate: authorization,
      call: callIn('acme'),
      decide: () => ({ organizationId: 'acme', events: [{ type: 'granted', payload }], answer: undefined }),
    })
    expect(await again(two.page)).toBe('notice 5')
    await shiftClock(users.sql, '61 seconds')
    expect(await again(three.page)).toBe('notice 5')
    await shiftClock(users.sql, '0')
    expect(await again(three.page)).toBe(three.code)
    const { sessionId } = sealedIn(users, three.code!).granted
    await deleteSession.handle(users, { sessionId, sessionToken: '' }, callIn('acme'))
    expect(await again(three.page)).toBe('notice 5')
  })

  test('and begins again once where it expired', async () => {
    const browser = new Visitor(users)
    const expire = (id: string) =>
      users.sql`update authorization_requests set expires_at = roster_now() where id = ${id}`
    const page = await browser.begin({ state: 'kept' })
    await expire(page.requestId)
    expect(requestOf(await browser.post(page, { loginName: 'ada', password: 'ada-password' }))).toBe(page.requestId)
    const begun = requestOf(await browser.show(page.requestId))
    expect(said(await browser.show(page.requestId))).toBe('notice 5')
    const again = await browser.show(begun)
    expect(said(again)).toBe('sign-in 0')
    await expire(begun)
    expect(requestOf(await browser.post(again, { loginName: 'ada', password: 'ada-password' }))).toBe(begun)
    expect((await browser.show(begun)).answer).toMatchObject({
      $case: 'notice',
      value: { reason: 4, applicationOrigin: 'https://app.example.com' },
    })
  })

  test('and what is begun again asks for the same, whatever the browser asks for beside it', async () => {
    const browser = new Visitor(users)
    const asked = { redirectUri: otherUri, scope: 'openid email', responseMode: 'form_post', state: 'mine' }
    const page = await browser.begin(asked)
    await users.sql`update authorization_requests set expires_at = roster_now() where id = ${page.requestId}`
    await browser.begin({ scope: 'openid profile', state: 'another' })
    const leaving = await browser.signIn(await browser.follow(await browser.show(page.requestId)), 'ada')
    expect(leaving.answer).toMatchObject({ $case: 'formPost', value: { action: otherUri } })
    const { code, state } = told(leaving)
    expect(state).toBe('mine')
    expect(sealedIn(users, code!).granted).toMatchObject({ redirectUri: otherUri, scope: 'openid email' })
  })
})

describe('names that exist and names that do not', () => {
  test('get the same answers', async () => {
    const answersFor = async (loginName: string, at = new Visitor(users)) => {
      const page = await at.begin()
      const answer = await at.post(page, { loginName, password: 'wrong-password' })
      const after = await at.show(page.requestId)
      const { size } = await sizeOf(page.requestId)
      return [
        { ...answer, answer: requestOf(answer) === page.requestId },
        { ...after, requestId: '', formToken: '' },
        size,
      ]
    }
    const [known, unknown] = [await answersFor('ada'), await answersFor('adb')]
    expect(JSON.stringify(known).replaceAll('ada', 'adb')).toBe(JSON.stringify(unknown))
    expect(said((known[1] as never) ?? {})).toBe('sign-in 1')
  })

  test('wait alike after too many attempts', async () => {
    for (const name of ['ada', 'nobody']) {
      const at = new Visitor(users)
      const page = await at.begin()
      for (let time = 0; time < 6; time++) await at.post(page, { loginName: name, password: 'wrong' })
      const { answer } = await at.show(page.requestId)
      expect(answer).toMatchObject({ $case: 'signIn', value: { error: 2, loginName: name } })
      expect((answer as { value: { retryAfter: number } }).value.retryAfter).toBeGreaterThan(30)
    }
  })
})

describe('nobody fills the tables of others:', () => {
  test('a browser has fifty requests', async () => {
    const browser = new Visitor(users)
    const first = requestOf(await browser.authorize())
    for (let more = 0; more < 50; more++) await browser.authorize()
    expect(said(await browser.show(first))).toBe('notice 4')
    const [row] = await users.sql`
      select count(*)::int from authorization_requests r join browsers b on b.id = r.browser_id
      where hash = ${hashToken(browser.cookie)}
    `
    expect(row!['count']).toBe(50)
  })

  test('an address has so many, by their size; those of a browser that is signed in do not count', async () => {
    const begin = (id: string, units: number, address: Buffer | null) => users.sql`
      select begin_authorization_request(${id}, null, ${address}, null, ${units}, '', null, null, false, 60, 50, 10, 10, null)
    `
    const address = Buffer.from('an address')
    for (const [id, units] of [
      ['one', 4],
      ['two', 3],
      ['three', 3],
      ['four', 1],
    ] as const)
      await begin(id, units, address)
    await begin('five', 4, null)
    const left = await users.sql`select id from authorization_requests where browser_id is null order by began_at`
    expect(left.map(({ id }) => id as string)).toEqual(['two', 'three', 'four', 'five'])
  })

  test('silent answers are counted for each application', async () => {
    const browser = new Visitor(users)
    await browser.signIn(await browser.begin(), 'grace')
    const answers = await Promise.all(Array.from({ length: 65 }, () => browser.authorize({ prompt: 'none' })))
    const errors = answers.map(told).flatMap(({ error }) => error ?? [])
    expect(new Set(errors)).toEqual(new Set(['temporarily_unavailable']))
    expect(errors.length).toBeGreaterThan(0)
  })

  test('browsers go a day after their last use, unless somebody is signed in', async () => {
    const [idle, used] = [new Visitor(users), new Visitor(users)]
    await idle.authorize()
    await used.signIn(await used.begin(), 'ada')
    await users.sql`update browsers set seen_at = roster_now() - interval '26 hours'`
    await deleteBrowsers(users.sql)
    const there = async ({ cookie }: Visitor) =>
      (await users.sql`select from browsers where hash = ${hashToken(cookie)}`).length
    expect([await there(idle), await there(used)]).toEqual([0, 1])
  })

  test('browsers in which nobody signed in go soon after their requests', async () => {
    const [begun, over, used] = [new Visitor(users), new Visitor(users), new Visitor(users)]
    for (const browser of [begun, over]) await browser.authorize()
    await used.signIn(await used.begin(), 'ada')
    await users.sql`update browsers set seen_at = roster_now() - interval '6 minutes'`
    const { id } = (await findBrowser(users.sql, over.cookie)).browser!
    await users.sql`delete from authorization_requests where browser_id = ${id}`
    await deleteBrowsers(users.sql)
    const found = await Promise.all([begun, over, used].map(({ cookie }) => findBrowser(users.sql, cookie)))
    expect(found.map(({ browser }) => browser !== undefined)).toEqual([true, false, true])
  })
})

async function peopleOf(cookie: string): Promise<string[]> {
  const rows = await users.sql<{ userId: string }[]>`
    select user_id as "userId" from browser_sessions s join browsers b on b.id = s.browser_id
    where b.hash = ${hashToken(cookie)}
  `
  return rows.map(({ userId }) => userId)
}

async function idOf(userName: string): Promise<string> {
  const [row] = await users.sql<{ id: string }[]>`
    select aggregate_id as id from unique_keys where kind = 'user_name'
      and key = ${users.personal.storedKey('user_name', userName)}
  `
  return row!.id
}

async function sizeOf(requestId: string): Promise<{ size: number }> {
  const [row] = await users.sql<{ size: number }[]>`
    select length(progress) as size from authorization_requests where id = ${requestId}
  `
  return row!
}
