import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { MailKind } from '#gen/roster/users/v1/internal_service'
import { SignInError } from '#gen/roster/users/v1/sign_in_service'
import {
  addPerson,
  noteApplication,
  nothingNewer,
  requestOf,
  said,
  told,
} from '../../openid/authorization/testing/visitors.ts'
import { keepLoginAddresses } from '../../directory/login-names/login-addresses.ts'
import { readProof } from '../../directory/login-names/read-proofs.ts'
import { listUnsentEmailCodes } from '../../internal/mails/list-unsent-email-codes.ts'
import { recordEmailCode } from '../../internal/mails/record-email-code.ts'
import { createSession } from '../../sessions/operations/session/create-session.ts'
import { addHumanUser } from '../../directory/operations/user/add-human-user.ts'
import { organizationType } from '../../directory/events/organization.ts'
import type { Session } from '../../sessions/events/session.ts'
import type { User } from '../../directory/events/user.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { newAddress, Newcomer, password, setPolicy } from './testing/newcomers.ts'

let database: TestDatabase
let users: TestUsers
let domains: { stop(): Promise<void> }

const { SIGN_IN_ERROR_REGISTRATION_CLOSED: closed, SIGN_IN_ERROR_ADDRESS_TAKEN: taken } = SignInError

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users)
  domains = await serveDomains({}, {}, { copied: nothingNewer(['client', 'other', 'shut']) })
  await noteApplication(users, 'client')
  await noteApplication(users, 'other', {}, { organizationId: 'other' })
  await noteApplication(users, 'shut', {}, { organizationId: 'shut' })
  for (const organizationId of ['owner', 'other']) await setPolicy(users, organizationId, true)
}, 60_000)

afterAll(async () => {
  await Promise.all([users?.stop(), domains?.stop()])
  await database?.drop()
})

const newcomer = () => new Newcomer(users)
const profile = { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 }

/** The people with this address. */
async function peopleOf(email: string): Promise<{ id: string; organizationId: string; state: User }[]> {
  const ids = await users.sql<{ id: string }[]>`select id from aggregates where type = 'user'`
  const all = await Promise.all(ids.map(({ id }) => users.store.load<User>('user', id)))
  return all.flatMap((user) => (user?.state.human?.email === email ? [user] : []))
}

const stored = async () => {
  const [row] = await users.sql<{ events: number; aggregates: number }[]>`
    select (select count(*)::int from events) as events, (select count(*)::int from aggregates) as aggregates
  `
  return row
}

describe('somebody registers', () => {
  test('and is the user of a proved address, signed in in this browser, on the way to the application', async () => {
    const browser = newcomer()
    const page = await browser.begin()
    expect(page.answer).toMatchObject({ $case: 'signIn', value: { mayRegister: true } })
    const form = await browser.wish(page)
    expect(said(form)).toBe('registration 0')
    const email = newAddress()
    const before = await stored()
    const cookie = browser.cookie
    const asking = await browser.register(form, { email: ` ${email} `, givenName: 'Grace\u200e ', language: 'de' })
    expect(asking.answer).toMatchObject({
      $case: 'registrationCode',
      value: { email, error: 0, passwordMin: 8, passwordMax: 200 },
    })
    expect(browser.cookie).toBe(cookie)
    // Nothing exists before the code.
    expect(await stored()).toEqual(before)
    const mail = await browser.mailOf(asking)
    expect(mail).toMatchObject({ email, displayName: 'Grace Lovelace', preferredLanguage: 'de', url: '', kind: 0 })
    const consent = await browser.finish(asking, { code: ` ${mail!.code.toLowerCase()}` })
    expect(said(consent)).toBe('consent openid profile')
    expect(browser.cookie).not.toBe(cookie)
    const [{ id, organizationId, state }] = (await peopleOf(email)) as [Awaited<ReturnType<typeof peopleOf>>[0]]
    expect(organizationId).toBe('owner')
    expect(state.userName).toMatch(/^grace\.lovelace-[2-9a-z]{6}$/)
    expect(state.human).toMatchObject({
      isVerified: true,
      profile: { firstName: 'Grace', displayName: 'Grace Lovelace', preferredLanguage: 'de' },
    })
    const events =
      await users.sql`select type, creator from events where aggregate_type = 'user' and aggregate_id = ${id}`
    expect([...events]).toEqual([{ type: 'human.added', creator: id }])
    expect(await readProof(users, id, state.human)).toBe('code')
    const code = told(await browser.decide(consent, 'allow'))['code']
    expect(code).toBeDefined()
    const [own] = await users.sql<{ sessionId: string }[]>`
      select session_id as "sessionId" from browser_sessions where user_id = ${id}
    `
    expect((await users.store.load<Session>('session', own!.sessionId))!.state.factors).toMatchObject([
      { kind: 'password' },
    ])
    await keepLoginAddresses(users, id)
    const [rows] = await users.sql`
      select count(*)::int as n, bool_and(proved) as proved from login_addresses where user_id = ${id}
    `
    expect(rows).toEqual({ n: 1, proved: true })
    const credentials = { loginName: state.userName, userId: '', password, lifetime: undefined }
    expect(
      (await createSession.handle(users, credentials, { ...callIn(''), caller: { ...callIn('').caller, userId: '' } }))
        .sessionId,
    ).toBeDefined()
    // Nothing is left of the registration.
    expect(await users.sql`select from secrets where kind = 'registration' and id = ${page.requestId}`).toHaveLength(0)
    expect(await browser.mailOf(page)).toBeUndefined()
  })

  test('in the organization that the request names, if that allows it', async () => {
    const scope = (id: string) => ({ scope: `openid urn:zitadel:iam:org:id:${id}` })
    const browser = newcomer()
    const email = newAddress()
    const asking = await browser.ask(email, scope('other'))
    await browser.finish(asking, { code: await browser.codeOf(asking) })
    expect(await peopleOf(email)).toMatchObject([{ organizationId: 'other' }])
    expect((await newcomer().begin(scope('shut'))).answer).toMatchObject({ value: { mayRegister: false } })
  })

  test('once, however often and at once the code is sent', async () => {
    const browser = newcomer()
    const email = newAddress()
    const asking = await browser.ask(email)
    const code = await browser.codeOf(asking)
    await Promise.all(Array.from({ length: 4 }, () => browser.finish(asking, { code })))
    expect(await peopleOf(email)).toHaveLength(1)
    expect(said(await browser.show(asking.requestId))).toMatch(/^consent/)
  })

  test('and gets the answer again where it was lost, by the same form with the password', async () => {
    const [browser, late] = [newcomer(), newcomer()]
    const asking = await browser.ask()
    late.cookie = browser.cookie
    const code = await browser.codeOf(asking)
    await browser.finish(asking, { code })
    const former = late.cookie
    expect(said(await late.finish(asking, { code, password: 'a wrong password' }))).toBe('sign-in 1')
    expect(late.cookie).toBe(former)
    expect(said(await late.finish(asking, { code }))).toMatch(/^consent/)
    expect(late.cookie).toBe(browser.cookie)
  })

  test('in the browser that began alone', async () => {
    const [browser, thief] = [newcomer(), newcomer()]
    const asking = await browser.ask()
    await thief.begin()
    const code = await browser.codeOf(asking)
    expect(said(await thief.finish(asking, { code }))).toBe('notice 4')
    const own = await thief.ask()
    expect(said(await thief.finish(own, { code }))).toBe('code 5')
    expect(said(await browser.finish({ ...asking, formToken: own.formToken }, { code }))).toBe('notice 7')
  })
})

test('a password that is guessed first, or is their name, is said at its field, and takes no try of the code', async () => {
  const browser = newcomer()
  const asking = await browser.ask()
  const code = await browser.codeOf(asking)
  for (const password of ['password', '12345678', 'Password1', 'Lovelace', 'lovelace1', 'passw0rd'])
    expect(said(await browser.finish(asking, { code, password }))).toBe('code 8')
  expect(said(await browser.finish(asking, { code }))).not.toMatch(/^code/)
})

describe('a code', () => {
  test('is over after five wrong ones, also at once', async () => {
    const browser = newcomer()
    const asking = await browser.ask()
    const code = await browser.codeOf(asking)
    // A password that is refused is no try.
    for (let n = 0; n < 6; n++) expect(said(await browser.finish(asking, { code, password: 'short' }))).toBe('code 7')
    expect(said(await browser.finish(asking, { code: 'WRONG2' }))).toBe('code 5')
    await Promise.all(Array.from({ length: 4 }, () => browser.finish(asking, { code: 'WRONG2' })))
    expect(said(await browser.finish(asking, { code }))).toBe('code 6')
    const again = await browser.register(await browser.finish(asking, { code: '', action: 'back' }))
    expect(said(await browser.finish(again, { code: await browser.codeOf(again) }))).toMatch(/^consent/)
  })

  test('ends with the next one, and with its time', async () => {
    const browser = newcomer()
    const email = newAddress()
    const asking = await browser.ask(email)
    const first = await browser.codeOf(asking)
    const back = await browser.finish(asking, { code: '', action: 'back' })
    expect(back.answer).toMatchObject({ $case: 'registration', value: { email, givenName: 'Ada', error: 0 } })
    const second = await browser.register(back, { email })
    expect(said(await browser.finish(second, { code: first }))).toBe('code 5')
    const code = await browser.codeOf(second)
    await users.sql`update secrets set expires_at = roster_now() where id = ${asking.requestId}`
    expect(said(await browser.finish(second, { code }))).toBe('code 6')
    expect(await browser.mailOf(second)).toBeUndefined()
  })

  test('is not asked for before it is mailed', async () => {
    const browser = newcomer()
    const form = await browser.wish(await browser.begin())
    expect(said(await browser.finish(form, { code: '' }))).toBe('registration 0')
  })
})

describe('an address that has an account', () => {
  const known = async (organizationId = 'owner') => {
    const email = newAddress()
    const first = newcomer()
    const asking = await first.ask(email, organizationId === 'other' ? { clientId: 'other' } : {})
    await first.finish(asking, { code: await first.codeOf(asking) })
    return email
  }

  test('gets the same page; the mail says that it has one, and no code is right', async () => {
    const email = await known()
    const [browser, other] = [newcomer(), newcomer()]
    const [page, unknown] = [await browser.ask(email.toUpperCase()), await other.ask()]
    const shown = ({ answer, newBrowser }: typeof page) => ({ value: { ...answer!.value, email: '' }, newBrowser })
    expect(shown(page)).toEqual(shown(unknown))
    expect(await browser.mailOf(page)).toMatchObject({
      email: email.toUpperCase(),
      code: '',
      kind: MailKind.MAIL_KIND_ALREADY_REGISTERED,
      displayName: 'Ada Lovelace',
      url: expect.stringContaining('/ui/forgot-password'),
    })
    expect(said(await browser.finish(page, { code: '' }))).toBe('code 5')
    expect(await peopleOf(email)).toHaveLength(1)
  })

  test('whose people sign in by mailed codes: the mail has no link to a password, whatever the policy of the request', async () => {
    const email = await known('other')
    const byCode = { allowMailedCodes: true, allowUsernamePassword: false }
    const mailFor = async (organizationId: string) => {
      await setPolicy(users, organizationId, true, byCode)
      const browser = newcomer()
      const mail = await browser.mailOf(await browser.ask(email))
      await setPolicy(users, organizationId, true)
      return { kind: mail!.kind, hasLink: mail!.url !== '', code: mail!.code }
    }
    const { MAIL_KIND_ALREADY_REGISTERED: byPassword, MAIL_KIND_ALREADY_REGISTERED_BY_CODE: kind } = MailKind
    expect(await mailFor('other')).toEqual({ kind, hasLink: false, code: '' })
    expect(await mailFor('owner')).toEqual({ kind: byPassword, hasLink: true, code: '' })
    // Where nobody gets a new password by mail, it leads to the sign-in.
    await setPolicy(users, 'other', true, { hidePasswordReset: true })
    const browser = newcomer()
    expect((await browser.mailOf(await browser.ask(email)))!.url).toBe(`${users.config.PUBLIC_URL}/ui/account/sign-in`)
    await setPolicy(users, 'other', true)
  })

  test('also in another organization, unless the request names one', async () => {
    const email = await known('other')
    const kindFor = async (parameters: object) => {
      const browser = newcomer()
      return (await browser.mailOf(await browser.ask(email, parameters)))!.kind
    }
    expect(await kindFor({})).toBe(MailKind.MAIL_KIND_ALREADY_REGISTERED)
    expect(await kindFor({ scope: 'openid urn:zitadel:iam:org:id:owner' })).toBe(MailKind.MAIL_KIND_UNSPECIFIED)
  })

  test('by the word of its organization alone, has one there', async () => {
    const email = newAddress()
    const verification = { $case: 'isVerified', value: true }
    const request = { userId: undefined, userName: email, password: undefined, profile, email: { email, verification } }
    const call = callIn('other')
    const manager = { ...call, caller: { ...call.caller, instanceRoles: [] } }
    await keepLoginAddresses(users, (await addHumanUser.handle(users, request as never, manager)).userId)
    const kindAt = async (clientId: string) => {
      const browser = newcomer()
      return (await browser.mailOf(await browser.ask(email, { clientId })))!.kind
    }
    expect(await kindAt('other')).toBe(MailKind.MAIL_KIND_ALREADY_REGISTERED)
    expect(await kindAt('client')).toBe(MailKind.MAIL_KIND_UNSPECIFIED)
  })

  test('meanwhile: of several who register it at once, one gets it, and the others sign in', async () => {
    const email = newAddress()
    const browsers = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const browser = newcomer()
        const page = await browser.ask(email)
        return { browser, page, code: await browser.codeOf(page) }
      }),
    )
    const pages = await Promise.all(browsers.map(({ browser, page, code }) => browser.finish(page, { code })))
    expect(pages.map(said).toSorted()).toEqual(['consent openid profile', `sign-in ${taken}`, `sign-in ${taken}`])
    expect(await peopleOf(email)).toHaveLength(1)
  })
})

describe('nobody registers', () => {
  test('where the policy does not allow it, whatever is posted', async () => {
    const browser = newcomer()
    const page = await browser.begin({ clientId: 'shut' })
    expect(page.answer).toMatchObject({ value: { mayRegister: false } })
    const form = await browser.wish(page)
    expect([said(form), said(await browser.register(form))]).toEqual([`sign-in ${closed}`, `sign-in ${closed}`])
    expect(await browser.mailOf(page)).toBeUndefined()
  })

  test('once the policy does not allow it any more, or the organization is closed', async () => {
    const organizationId = 'closing'
    await noteApplication(users, 'closing', {}, { organizationId })
    const note = (state: string, sequence: number) =>
      users.store.execute({
        aggregate: { type: organizationType, id: organizationId },
        call: callIn(organizationId),
        decide: () => ({
          organizationId,
          events: [{ type: 'noted', payload: { state, sequence } }],
          answer: undefined,
        }),
      })
    const email = newAddress()
    for (const [close, open] of [
      [() => setPolicy(users, organizationId, false), () => setPolicy(users, organizationId, true)],
      [() => note('inactive', 1), () => note('active', 2)],
    ] as const) {
      await setPolicy(users, organizationId, true)
      const [browser, later] = [newcomer(), newcomer()]
      const asking = await browser.ask(email, { clientId: 'closing' })
      const form = await later.wish(await later.begin({ clientId: 'closing' }))
      const code = await browser.codeOf(asking)
      await close()
      expect(said(await browser.finish(asking, { code }))).toMatch(new RegExp(`^(sign-in ${closed}|notice 1)$`))
      expect(said(await later.register(form))).toMatch(new RegExp(`^(sign-in ${closed}|notice 1)$`))
      await open()
    }
    expect(await peopleOf(email)).toEqual([])
  })

  test('with a field that breaks a rule: the page says which', async () => {
    const browser = newcomer()
    const form = await browser.wish(await browser.begin())
    const all = [
      { email: 'no address' },
      { email: 'a@b@c' },
      { email: `${'x'.repeat(250)}@example.com` },
      { givenName: ' ' },
      { familyName: 'x'.repeat(201) },
    ]
    const shown: string[] = []
    for (const given of all) shown.push(said(await browser.register(form, given)))
    expect(shown).toEqual([1, 1, 1, 2, 3].map((error) => `registration ${error}`))
  })
})

describe('an application that asks to register (prompt=create)', () => {
  test('has the form shown at once, also to whoever is signed in', async () => {
    const browser = newcomer()
    const form = await browser.begin({ prompt: 'create', loginHint: 'ada@example.com' })
    expect(form.answer).toMatchObject({ $case: 'registration', value: { email: 'ada@example.com' } })
    const asking = await browser.register(form)
    const consent = await browser.finish(asking, { code: await browser.codeOf(asking) })
    expect(told(await browser.decide(consent, 'allow'))['code']).toBeDefined()
    expect(told(await browser.authorize())['code']).toBeDefined()
    const again = await browser.begin({ prompt: 'create' })
    expect(said(again)).toBe('registration 0')
    const accounts = await browser.register(again, { action: 'back' })
    expect(accounts.answer?.$case).toBe('accounts')
  })

  test('gets what it would get without, where nobody may register', async () => {
    const browser = newcomer()
    const asked = { clientId: 'shut', prompt: 'create' }
    expect(said(await browser.begin(asked))).toBe('sign-in 0')
    await addPerson(users, 'insider', 'shut')
    const consent = await browser.signIn(await browser.begin({ clientId: 'shut' }), 'insider')
    await browser.decide(consent, 'allow')
    expect(told(await browser.authorize(asked))['code']).toBeDefined()
    const hint = '{"id_token":{"sub":{"value":"somebody"}}}'
    expect(said(await newcomer().begin({ prompt: 'create', claims: hint }))).toBe('sign-in 0')
    expect(told(await newcomer().authorize({ prompt: 'create none' }))['error']).toBe('invalid_request')
  })
})

test('a mail that was sent does not wait any more', async () => {
  const browser = newcomer()
  const asking = await browser.ask()
  const [{ codeId }] = await users.sql<[{ codeId: string }]>`
    select mail_id as "codeId" from unsent_mails where user_id = ${asking.requestId}
  `
  const code = await browser.codeOf(asking)
  const end = { userId: asking.requestId, codeId, kind: MailKind.MAIL_KIND_REGISTRATION, mails: [] }
  await recordEmailCode(users, end, callIn(''))
  expect(await browser.mailOf(asking)).toBeUndefined()
  expect(said(await browser.finish(asking, { code }))).toMatch(/^consent/)
})

describe('of registrations', () => {
  test('an address of the network may begin twenty at once', async () => {
    const browser = newcomer()
    const form = await browser.wish(await browser.begin())
    for (let n = 0; n < 20; n++) expect(said(await browser.register(form))).toBe('code 0')
    expect(said(await browser.register(form))).toBe('registration 4')
    const other = newcomer()
    expect(said(await other.ask())).toBe('code 0')
  })

  test('five mails go to a mailbox, over all organizations; other mails count apart', async () => {
    const email = newAddress()
    const tagged = (tag: string) => email.replace('@', `+${tag}@`)
    for (let n = 0; n < 5; n++)
      expect(said(await newcomer().ask(tagged(String(n)), { clientId: n % 2 ? 'client' : 'other' }))).toBe('code 0')
    const page = await newcomer().ask(email)
    expect(page.answer).toMatchObject({ $case: 'registration', value: { error: 4, email } })
    const { retryAfter } = (page.answer as { value: { retryAfter: number } }).value
    expect(retryAfter).toBeGreaterThan(0)
    expect(retryAfter).toBeLessThanOrEqual(120)
    expect(await users.sql`select from uses`).toHaveLength(0)
  })

  test('mails wait in a line of their own', async () => {
    for (let n = 0; n < 6; n++) await newcomer().ask()
    const email = newAddress()
    const request = { userId: undefined, userName: email, password: undefined, profile, email: { email } }
    const { userId } = await addHumanUser.handle(users, request as never, callIn('owner'))
    const { codes } = await listUnsentEmailCodes(users, { limit: 5 })
    expect(codes.map((mail) => mail.userId)).toContain(userId)
  })
})

test('a way to another page keeps what was typed', async () => {
  const browser = newcomer()
  const page = await browser.begin()
  const form = await browser.show(requestOf(await browser.post(page, { action: 'register', loginName: 'a@b.example' })))
  expect(form.answer).toMatchObject({ value: { email: 'a@b.example' } })
  const back = await browser.register(form, { email: 'c@b.example', action: 'back' })
  expect(back.answer).toMatchObject({ $case: 'signIn', value: { loginName: 'c@b.example', mayRegister: true } })
})
