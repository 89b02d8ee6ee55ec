import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import {
  addPerson,
  noteApplication,
  nothingNewer,
  said,
  told,
  Visitor,
} from '../../openid/authorization/testing/visitors.ts'
import { createSession } from '../../sessions/operations/session/create-session.ts'
import { lockUser } from '../../directory/operations/user/lock-user.ts'
import { statuses } from '../../directory/organizations/statuses.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import type { Session } from '../../sessions/events/session.ts'

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  grants = await serveDomains({}, {}, { copied: nothingNewer(['client', 'another']) })
  await noteApplication(users, 'client')
  await noteApplication(users, 'another')
}, 60_000)
afterAll(async () => {
  await Promise.all([users?.stop(), grants?.stop()])
  await database?.drop()
})

function shown({ answer }: PageAnswer) {
  if (answer?.$case !== 'account') throw new Error(`no account: ${JSON.stringify(answer)}`)
  return answer.value
}

/** Somebody new, who comes to the own account in a browser. */
async function signedIn(name: string, browser = new Visitor(users)) {
  const userId = await addPerson(users, name)
  const page = await browser.signIn(await browser.account(), name)
  return { userId, browser, page }
}

describe('a sign-in without an application', () => {
  test('ends at the own account, in the language that was asked for, and gives nobody anything', async () => {
    const userId = await addPerson(users, 'ada')
    const browser = new Visitor(users)
    const asking = await browser.account({ uiLocales: 'de' })
    expect(asking).toMatchObject({
      answer: { $case: 'signIn', value: { loginName: '', error: 0 } },
      destination: { applicationName: '', host: new URL(users.config.PUBLIC_URL).host },
      uiLocales: 'de',
    })
    expect(said(await browser.signIn(asking, 'ada', 'wrong'))).toBe('sign-in 1')
    const before = browser.cookie
    const page = await browser.signIn(asking, 'ada')
    expect(browser.cookie).not.toBe(before)
    expect(shown(page)).toMatchObject({
      account: { displayName: 'The ada', loginName: 'ada' },
      userId,
      email: 'ada@example.com',
    })
    expect(page.uiLocales).toBe('de')
    const [{ granted }] = await users.sql<[{ granted: number }]>`
      select count(*)::int as granted from events where aggregate_type = 'authorization'
    `
    expect(granted).toBe(0)
    // The page of the request leads on, to the end of its days.
    expect(shown(await browser.follow(await browser.show(asking.requestId))).userId).toBe(userId)
    expect(shown(await browser.account()).userId).toBe(userId)
  })

  test('is needed where nobody is signed in who may be: also after a lock', async () => {
    const { userId, browser } = await signedIn('locked')
    await lockUser(users, { userId }, callIn('acme'))
    expect(said(await browser.account())).toBe('sign-in 0')
  })

  test('is nothing that an application can ask for', async () => {
    expect(said(await new Visitor(users).authorize({ clientId: '' }))).toBe('notice 1')
  })
})

describe('signing out', () => {
  test('here ends the session of this browser, which gets a new value', async () => {
    const { browser, page } = await signedIn('here')
    const elsewhere = new Visitor(users)
    await elsewhere.signIn(await elsewhere.account(), 'here')
    const before = browser.cookie
    expect(said(await browser.leave(page, 'here'))).toBe('sign-in 0')
    expect(browser.cookie).not.toBe(before)
    expect(told(await browser.authorize({ prompt: 'none' }))['error']).toBe('login_required')
    expect(said(await new Visitor(users, before).account())).toBe('sign-in 0')
    expect(said(await elsewhere.account())).toBe('account')
  })

  test('everywhere ends all sessions, and what applications have', async () => {
    const { browser, page } = await signedIn('everywhere')
    const elsewhere = new Visitor(users)
    await elsewhere.signIn(await elsewhere.account(), 'everywhere')
    const before = browser.cookie
    expect(said(await browser.leave(page, 'everywhere'))).toBe('sign-in 0')
    expect(browser.cookie).not.toBe(before)
    expect(said(await elsewhere.account())).toBe('sign-in 0')
  })
})

describe('sessions', () => {
  const kindsOf = (page: PageAnswer) =>
    shown(page).sessions!.sessions.map(({ isCurrent, inBrowser }) =>
      isCurrent ? 'here' : inBrowser ? 'browser' : 'program',
    )

  test('are listed, and each is ended', async () => {
    const { userId, browser } = await signedIn('lists')
    const [elsewhere, third] = [new Visitor(users), new Visitor(users)]
    for (const other of [elsewhere, third]) await other.signIn(await other.account(), 'lists')
    const login = { loginName: 'lists', userId: '', password: 'lists-password', lifetime: undefined }
    await createSession.handle(users, login, callIn('acme'))
    const page = await browser.account({ section: 'activity' })
    expect(kindsOf(page)).toEqual(['program', 'browser', 'browser', 'here'])
    const { sessions, total } = shown(page).sessions!
    expect(total).toBe(4)
    expect(sessions.map(({ lastUseDate }) => lastUseDate !== undefined)).toEqual([false, true, true, true])
    const [program, , second] = sessions
    expect(kindsOf(await browser.endSession(page, program!.id))).toEqual(['browser', 'browser', 'here'])
    expect(kindsOf(await browser.endSession(page, second!.id))).toEqual(['browser', 'here'])
    expect(said(await elsewhere.account())).toBe('sign-in 0')
    expect(said(await third.account())).toBe('account')
    // Twice is as once.
    expect(kindsOf(await browser.endSession(page, second!.id))).toEqual(['browser', 'here'])
    const rows = await users.sql`
      select creator from events where aggregate_type = 'session' and aggregate_id = ${second!.id} and type = 'ended'
    `
    expect(rows).toEqual([{ creator: userId }])
    const before = browser.cookie
    expect(said(await browser.endSession(page, shown(page).account!.sessionId))).toBe('sign-in 0')
    expect(browser.cookie).not.toBe(before)
  })

  test('of somebody else are as unknown ones', async () => {
    const stranger = await signedIn('stranger')
    const { browser, page } = await signedIn('curious')
    const foreign = shown(stranger.page).account!.sessionId
    const answers = await Promise.all([foreign, 'unknown'].map((id) => browser.endSession(page, id)))
    expect(answers[0]).toEqual(answers[1])
    expect(said(await stranger.browser.account())).toBe('account')
  })
})

describe('what applications have', () => {
  const namesIn = (page: PageAnswer) => shown(page).consents!.consents.map((each) => each.applicationName)

  test('is listed, and taken back: they have to ask again', async () => {
    const { browser } = await signedIn('gives')
    await browser.decide(await browser.begin(), 'allow')
    await browser.decide(await browser.begin({ clientId: 'another', scope: 'openid' }), 'allow')
    const page = await browser.account({ section: 'apps' })
    expect(shown(page).consents).toMatchObject({
      consents: [{ applicationName: 'App another', scopes: ['openid'] }, { scopes: ['openid', 'profile'] }],
      total: 2,
      nextCursor: '',
    })
    const silently = async () => told(await browser.authorize({ prompt: 'none' }))['error']
    expect(await silently()).toBeUndefined()
    const left = await browser.takeBack(page, 'app-client')
    expect(namesIn(left)).toEqual(['App another'])
    expect(await silently()).toBe('consent_required')
    // Twice, and what never was given, are as once.
    for (const id of ['app-client', 'app-unknown'])
      expect(namesIn(await browser.takeBack(page, id))).toEqual(['App another'])
  })

  test('and sessions, a thousand of each, are shown eight at a time', async () => {
    const { userId, browser } = await signedIn('many')
    await users.sql`
      insert into consents select ${userId}, 'app-' || n, '{openid}', roster_now() from generate_series(1, 1000) n
    `
    await users.sql`
      insert into tokens (hash, user_id, organization_id, human, session_id, expires_at)
      select sha256(('many' || n)::bytea), ${userId}, 'acme', true, 'session-' || n, roster_now() + interval '1 day'
      from generate_series(1, 999) n
    `
    for (const part of ['sessions', 'consents'] as const) {
      const seen = new Set<string>()
      const section = part === 'sessions' ? 'activity' : 'apps'
      let page = shown(await browser.account({ section }))[part]!
      for (let pages = 0; pages < 3; pages++) {
        const items =
          'sessions' in page ? page.sessions.map(({ id }) => id) : page.consents.map((each) => each.applicationId)
        for (const id of items) seen.add(id)
        expect([page.total, page.goesOn]).toEqual([1000, pages > 0])
        page = shown(await browser.account({ section, [`${part}Cursor`]: page.nextCursor }))[part]!
      }
      expect(seen.size).toBe(24)
    }
    // A cursor of something else shows the first ones.
    const { sessions } = shown(await browser.account({ section: 'activity', sessionsCursor: 'another' }))
    expect([sessions!.sessions.length, sessions!.goesOn]).toEqual([8, false])
  })
})

describe('several accounts in a browser', () => {
  test('are a choice, and the page of the one that was chosen stays until another is', async () => {
    const { userId: ada, browser } = await signedIn('first')
    const grace = await addPerson(users, 'second')
    // Signed in for an application, so that nobody was chosen here.
    await browser.signIn(await browser.choose(await browser.begin({ prompt: 'select_account' }), ''), 'second')
    expect(shown(await browser.account()).userId).toBe(ada)
    const choice = await browser.account({ prompt: 'select_account' })
    const { accounts } = (choice.answer as { value: { accounts: { sessionId: string; loginName: string }[] } }).value
    expect(accounts.map(({ loginName }) => loginName).toSorted()).toEqual(['first', 'second'])
    const before = browser.cookie
    const chosen = await browser.choose(choice, accounts.find(({ loginName }) => loginName === 'second')!.sessionId)
    expect(shown(chosen).userId).toBe(grace)
    expect(browser.cookie).not.toBe(before)
    expect(shown(await browser.account()).userId).toBe(grace)
    // Who leaves leaves alone, and the next page says whose it is.
    const next = shown(await browser.leave(chosen, 'everywhere'))
    expect([next.userId, next.outcome]).toEqual([ada, 'signed-out'])
  })

  test('are a choice where none was shown before', async () => {
    const browser = new Visitor(users)
    await addPerson(users, 'one')
    await addPerson(users, 'two')
    await browser.signIn(await browser.begin(), 'one')
    await browser.signIn(await browser.choose(await browser.begin({ prompt: 'select_account' }), ''), 'two')
    expect(said(await browser.account())).toBe('accounts')
  })
})

describe('a form', () => {
  test('of another account, another browser or none ends nothing', async () => {
    const { browser, page } = await signedIn('mine')
    const other = await signedIn('theirs', browser)
    const stranger = await signedIn('outside')
    const { formToken } = page
    for (const forged of [
      { ...page, formToken: '' },
      { ...page, formToken: other.page.formToken },
      { ...page, formToken: stranger.page.formToken },
      { ...other.page, formToken },
      { ...stranger.page, formToken },
    ])
      expect(said(await browser.leave(forged, 'everywhere'))).toBe('notice 7')
    // It is signed in elsewhere alone.
    expect(said(await browser.leave(stranger.page, 'everywhere'))).toBe('notice 7')
    expect(said(await stranger.browser.account())).toBe('account')
    expect(said(await browser.account({ prompt: 'select_account' }))).toBe('accounts')
  })

  test('of a session that ended meanwhile leads to the sign-in, and back', async () => {
    const { userId, browser, page } = await signedIn('back')
    const elsewhere = new Visitor(users)
    await elsewhere.leave(await elsewhere.signIn(await elsewhere.account(), 'back'), 'everywhere')
    const asking = await browser.takeBack(page, 'app-client')
    expect(said(asking)).toBe('sign-in 0')
    const again = await browser.signIn(asking, 'back')
    expect(shown(again).userId).toBe(userId)
  })

  test('of somebody whom judge shuts out meanwhile does as little as the page shows', async () => {
    const browser = new Visitor(users)
    await addPerson(users, 'shut', 'shut')
    const page = await browser.signIn(await browser.account(), 'shut')
    const { sessionId } = shown(page).account!
    await users.store.execute({
      aggregate: statuses.key('shut'),
      call: callIn('shut'),
      decide: () => ({
        organizationId: 'shut',
        events: [{ type: 'noted', payload: { state: 'inactive', sequence: 1 } }],
        answer: undefined,
      }),
    })
    expect(said(await browser.account())).toBe('sign-in 0')
    expect(said(await browser.leave(page, 'here'))).toBe('sign-in 0')
    expect((await users.store.load<Session>('session', sessionId))!.state.ended).toBe(false)
  })

  test('with the former value of the cookie changes nothing', async () => {
    const { browser, page } = await signedIn('former')
    const former = new Visitor(users, browser.cookie)
    await browser.choose(await browser.account({ prompt: 'select_account' }), shown(page).account!.sessionId)
    expect(said(await former.leave(page, 'everywhere'))).toBe('sign-in 0')
    expect(said(await browser.account())).toBe('account')
  })
})
