import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { IssueTokenRequest as codec } from '#gen/roster/users/v1/oauth_service'
import { FactorWay, type PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { readNow } from '#lib/database/database'
import { shiftClock } from '#test/support/shift-clock'
import { issueToken } from '../../../openid/operations/issue-token.ts'
import { redirectUri, requestOf, said, told } from '../../../openid/authorization/testing/visitors.ts'
import { disownSession } from '../../../pages/account/disown-session.ts'
import { callIn } from '../../../testing/test-users.ts'
import { listPasskeys } from '../../operations/passkeys/list-passkeys.ts'
import { removePasskey } from '../../operations/passkeys/remove.ts'
import { recordFactor } from '../../record-factor.ts'
import { factors } from '../registry.ts'
import { makeChallenge } from './challenge.ts'
import { Authenticator, type CreationOptions } from './testing/authenticator.ts'
import {
  allow,
  asked,
  call,
  closeWorld,
  errorOf,
  newPerson,
  openWorld,
  origin,
  reasonOf,
  users,
  Visitor,
  withPasskey,
} from './testing/world.ts'

beforeAll(() => openWorld(), 60_000)
afterAll(closeWorld)

const arrive = () => new Visitor(users)
const isIn = (page: PageAnswer) => told(page)['code'] !== undefined

async function idToken(page: PageAnswer) {
  const request = { ...codec.decode(new Uint8Array()), grantType: 'authorization_code', clientId: 'client' }
  const proof = { code: told(page)['code']!, codeVerifier: 'verifier', redirectUri }
  return decodeJwt((await issueToken.handle(users, { ...request, ...proof }, callIn(''))).idToken!)
}

describe('the first page', () => {
  test('takes a passkey in place of name and password, and says what was done', async () => {
    const { person, authenticator } = await withPasskey()
    const visitor = arrive()
    const page = await visitor.begin()
    // With a list, some browsers would ask for another device.
    expect(asked(page)).toMatchObject({ rpId: 'localhost', allowCredentials: [], userVerification: 'required' })
    const claims = await idToken(await visitor.pass(page, authenticator.get(asked(page))))
    expect(claims).toMatchObject({ sub: person.userId, amr: ['pop', 'user', 'mfa'] })
    expect(claims['auth_time']).toBeGreaterThan(Date.now() / 1000 - 60)
    expect(isIn(await visitor.silently())).toBe(true)
  })

  test('asks for no second factor then, also where everybody needs one', async () => {
    const { authenticator } = await withPasskey()
    await allow({ allowPasskeys: true, forceMfa: true })
    const visitor = arrive()
    const page = await visitor.begin()
    expect(isIn(await visitor.pass(page, authenticator.get(asked(page))))).toBe(true)
    await allow({ allowPasskeys: true })
  })

  test('of Roster itself takes one also where an organization alone allows them', async () => {
    const { authenticator } = await withPasskey()
    await allow({})
    await allow({ allowPasskeys: true }, 'acme')
    const visitor = arrive()
    const page = await visitor.account()
    expect((await visitor.pass(page, authenticator.get(asked(page)))).answer?.$case).toBe('account')
    await allow({}, 'acme')
    // Its person judges, not the page.
    const other = arrive()
    const refused = await other.account()
    expect(errorOf(await other.pass(refused, authenticator.get(asked(refused))))).toBe(
      'SIGN_IN_ERROR_PASSKEY_NOT_ALLOWED',
    )
    await allow({ allowPasskeys: true })
  })

  test('says what was wrong, and takes name and password still', async () => {
    const { person, authenticator, passkeyId } = await withPasskey()
    const visitor = arrive()
    let page = await visitor.begin()
    const pass = async (credential: unknown) => errorOf((page = await visitor.pass(page, credential)))
    const sign = (lies = {}) => authenticator.get(asked(page), lies)
    expect(await pass(sign({ uv: false }))).toBe('SIGN_IN_ERROR_PASSKEY_UNVERIFIED')
    expect(await pass(sign({ bogus: true }))).toBe('SIGN_IN_ERROR_PASSKEY_INVALID')
    expect(await pass('no credential')).toBe('SIGN_IN_ERROR_PASSKEY_INVALID')
    // Nobody is named here, so the passkey has to say whose it is.
    expect(await pass(sign({ userHandle: undefined }))).toBe('SIGN_IN_ERROR_PASSKEY_INVALID')
    await removePasskey.handle(users, { userId: person.userId, passkeyId }, call())
    expect(await pass(sign())).toBe('SIGN_IN_ERROR_PASSKEY_UNKNOWN')
    const prompt = page.answer?.$case === 'signIn' ? page.answer.value.passkey : undefined
    expect(prompt!.unknownCredentialId).toBe(authenticator.id)
    expect(isIn(await visitor.signIn(page, person.userName))).toBe(true)
  })

  test('takes a challenge once, for five minutes, in its browser, for its request', async () => {
    const { authenticator } = await withPasskey()
    const [visitor, other] = [arrive(), arrive()]
    const [page, foreign] = [await visitor.begin(), await other.begin()]
    const late = 'SIGN_IN_ERROR_PASSKEY_LATE'
    expect(errorOf(await other.pass(foreign, authenticator.get(asked(page))))).toBe(late)
    const second = await visitor.begin()
    expect(errorOf(await visitor.pass(second, authenticator.get(asked(page))))).toBe(late)
    await shiftClock(users.sql, '301 seconds')
    expect(errorOf(await visitor.pass(page, authenticator.get(asked(page))))).toBe(late)
    // The script of a page that stands open gets another one.
    const renewed = await visitor.renew(page)
    expect(isIn(await visitor.pass(page, authenticator.get(renewed!)))).toBe(true)
    await shiftClock(users.sql, '0 seconds')
  })

  test('answers two clicks and two tabs alike', async () => {
    const { person, authenticator } = await withPasskey()
    const visitor = arrive()
    const [one, other] = [await visitor.begin(), await visitor.begin()]
    const before = visitor.cookie
    const [first, second] = [authenticator.get(asked(one)), authenticator.get(asked(other))]
    expect(isIn(await visitor.pass(one, first))).toBe(true)
    expect(isIn(await visitor.pass(other, second, 'sign-in', before))).toBe(true)
    expect((await idToken(await visitor.silently())).sub).toBe(person.userId)
  })

  test('gives a former cookie and the password nothing of what a passkey opened', async () => {
    const { person, authenticator } = await withPasskey()
    const visitor = arrive()
    const [page, planted] = [await visitor.begin(), await visitor.begin()]
    const thief = new Visitor(users, visitor.cookie)
    expect(isIn(await visitor.pass(page, authenticator.get(asked(page))))).toBe(true)
    await allow({ allowPasskeys: true, forceMfa: true })
    expect(said(await thief.signIn(planted, person.userName))).toBe('passkey')
    expect(thief.cookie).not.toBe(visitor.cookie)
    await allow({ allowPasskeys: true })
  })

  test('of a person who is known takes a passkey of theirs alone, and that is as new as a password', async () => {
    const [own, foreign] = [await withPasskey(), await withPasskey()]
    const visitor = arrive()
    const first = await visitor.begin()
    const before = await idToken(await visitor.pass(first, own.authenticator.get(asked(first))))
    for (const [seconds, again] of [
      [30, { prompt: 'login' }],
      [60, { maxAge: '10' }],
    ] as const) {
      await shiftClock(users.sql, `${seconds} seconds`)
      let page = await visitor.begin(again)
      expect(said(page)).toBe('sign-in 0 fixed')
      expect(asked(page).allowCredentials).toMatchObject([{ id: own.authenticator.id }])
      page = await visitor.pass(page, foreign.authenticator.get(asked(page)))
      expect(errorOf(page)).toBe('SIGN_IN_ERROR_PASSKEY_OTHER_PERSON')
      const after = await idToken(await visitor.pass(page, own.authenticator.get(asked(page))))
      expect(after['auth_time']).toBeGreaterThanOrEqual((before['auth_time'] as number) + seconds)
    }
    await shiftClock(users.sql, '0 seconds')
  })

  test('opens no session with a passkey that is removed between its check and its record', async () => {
    const { person, authenticator, passkeyId } = await withPasskey()
    const { userId } = person
    const binding = { for: 'session', sessionId: 'a-session', userId } as const
    const challenge = makeChallenge(users.keys, binding, { verifies: true }, await readNow(users.sql))
    const text = JSON.stringify(authenticator.get({ challenge }))
    const proved = await factors.passkey.check(users, { loginName: '', text, asked: { binding } }, call())
    await removePasskey.handle(users, { userId, passkeyId }, call())
    expect(await reasonOf(recordFactor(users, proved, { session: undefined }, call()))).toBe('CREDENTIALS_INVALID')
  })

  test('asks for no passkey where the policy allows none, and takes none of such a person', async () => {
    const { authenticator } = await withPasskey()
    const visitor = arrive()
    const page = await visitor.begin()
    await allow({ allowPasskeys: false }, 'acme')
    expect(() => asked({ ...page, answer: undefined })).toThrow()
    const shown = await visitor.pass(page, authenticator.get(asked(page)))
    expect(errorOf(shown)).toBe('SIGN_IN_ERROR_PASSKEY_NOT_ALLOWED')
    expect(() => asked(shown)).toThrow('nothing is asked for')
    await allow({ allowPasskeys: true }, 'acme')
  })
})

describe('after a password', () => {
  test('a passkey is the second factor that is asked for, and a mailed code another way', async () => {
    const { person, authenticator } = await withPasskey()
    await allow({ allowPasskeys: true, forceMfa: true })
    const visitor = arrive()
    let page = await visitor.signIn(await visitor.begin(), person.userName)
    expect(page.answer).toMatchObject({ $case: 'passkey', value: { ways: [FactorWay.FACTOR_WAY_MAIL] } })
    expect(
      await users.sql`select from unsent_mails where user_id = ${person.userId} and kind = 'otp-email'`,
    ).toHaveLength(0)
    expect(asked(page)).toMatchObject({ userVerification: 'preferred', allowCredentials: [{ id: authenticator.id }] })
    page = await visitor.mail(page)
    expect(page.answer).toMatchObject({ $case: 'code', value: { isSent: true, ways: [FactorWay.FACTOR_WAY_PASSKEY] } })
    page = await visitor.pass(page, '', 'ask')
    // Without verification it is a second factor still.
    const claims = await idToken(await visitor.pass(page, authenticator.get(asked(page), { uv: false })))
    expect(claims).toMatchObject({ sub: person.userId, amr: ['pwd', 'pop', 'user', 'mfa'] })
    await allow({ allowPasskeys: true })
  })

  test('takes no passkey of somebody else, and none that signed for the first page', async () => {
    const [own, foreign] = [await withPasskey(), await withPasskey()]
    await allow({ allowPasskeys: true, forceMfa: true })
    const visitor = arrive()
    const first = await visitor.begin()
    let page = await visitor.signIn(first, own.person.userName)
    const before = own.authenticator.get(asked(first))
    page = await visitor.pass(page, before)
    expect(errorOf(page)).toBe('SIGN_IN_ERROR_PASSKEY_LATE')
    page = await visitor.pass(page, foreign.authenticator.get(asked(page)))
    expect(errorOf(page)).toBe('SIGN_IN_ERROR_PASSKEY_OTHER_PERSON')
    expect(isIn(await visitor.pass(page, own.authenticator.get(asked(page))))).toBe(true)
    await allow({ allowPasskeys: true })
  })

  test('does not move the time of the first factor', async () => {
    const { person, authenticator } = await withPasskey()
    const visitor = arrive()
    const before = await idToken(await visitor.signIn(await visitor.begin(), person.userName))
    await allow({ allowPasskeys: true, forceMfa: true })
    await shiftClock(users.sql, '30 seconds')
    const page = await visitor.begin()
    const after = await idToken(await visitor.pass(page, authenticator.get(asked(page))))
    expect(after['auth_time']).toBe(before['auth_time'])
    await shiftClock(users.sql, '0 seconds')
    await allow({ allowPasskeys: true })
  })
})

describe('the page of the account', () => {
  const partOf = ({ answer }: PageAnswer) => (answer?.$case === 'account' ? answer.value.passkeys : undefined)
  const outcomeOf = ({ answer }: PageAnswer) => (answer?.$case === 'account' ? answer.value.outcome : answer?.$case)
  const newOf = (page: PageAnswer) => JSON.parse(partOf(page)!.newPasskey!.options) as CreationOptions

  async function enter() {
    const person = await newPerson()
    const visitor = arrive()
    await visitor.signIn(await visitor.account({ section: 'passkeys' }), person.userName)
    return { person, visitor, page: await visitor.account({ section: 'passkeys' }) }
  }

  test('adds, names and removes passkeys', async () => {
    const { person, visitor, page: empty } = await enter()
    expect(partOf(empty)).toMatchObject({ passkeys: [], isFull: false })
    const authenticator = new Authenticator(origin)
    const aaguid = 'ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4'
    let page = await visitor.add(empty, authenticator.create(newOf(empty), { aaguid, credProps: { rk: true } }))
    expect(outcomeOf(page)).toBe('passkey-added')
    const [added] = partOf(page)!.passkeys
    expect(added).toMatchObject({
      name: 'Google Password Manager',
      lastUseDate: undefined,
      isDead: false,
      secondOnly: false,
    })
    page = await visitor.change(page, added!.id, 'rename', '  My phone ')
    expect([outcomeOf(page), partOf(page)!.passkeys[0]!.name]).toEqual(['saved', 'My phone'])
    page = await visitor.change(page, added!.id, 'rename', 'x'.repeat(201))
    expect(outcomeOf(page)).toBe('passkey-name-invalid')
    page = await visitor.change(page, added!.id, 'remove')
    expect([outcomeOf(page), partOf(page)!.passkeys]).toEqual(['passkey-removed', []])
    const kinds = await users.sql<{ kind: string }[]>`
      select kind from unsent_mails where user_id = ${person.userId} order by requested_at
    `
    expect(kinds.map(({ kind }) => kind)).toEqual(['passkey-added', 'passkey-renamed', 'passkey-removed'])
  })

  test('says of a passkey that cannot be found without a name that it is so, and when one was used', async () => {
    const { visitor, page: empty } = await enter()
    const authenticator = new Authenticator(origin)
    const page = await visitor.add(empty, authenticator.create(newOf(empty), { credProps: { rk: false } }), 'Key')
    expect(outcomeOf(page)).toBe('passkey-hidden')
    expect(partOf(page)!.passkeys).toMatchObject([{ name: 'Key', secondOnly: true }])
    const again = await visitor.begin({ prompt: 'login' })
    expect(isIn(await visitor.pass(again, authenticator.get(asked(again))))).toBe(true)
    const shown = await visitor.account({ section: 'sign-in' })
    expect(partOf(shown)!.passkeys).toMatchObject([{ lastUseDate: expect.any(Date) }])
  })

  test('asks for a first factor again after ten minutes, and a passkey is one', async () => {
    const { person, authenticator } = await withPasskey()
    const visitor = arrive()
    await visitor.signIn(await visitor.account({ section: 'passkeys' }), person.userName)
    const page = await visitor.account({ section: 'passkeys' })
    const begun = newOf(page)
    await shiftClock(users.sql, '601 seconds')
    const asksAgain = await visitor.add(page, new Authenticator(origin).create(begun))
    expect(said(asksAgain)).toBe('sign-in 0 fixed')
    expect((await listPasskeys(users, person)).passkeys).toHaveLength(1)
    expect(outcomeOf(await visitor.pass(asksAgain, authenticator.get(asked(asksAgain))))).toBe('')
    await shiftClock(users.sql, '0 seconds')
  })

  test('takes a challenge once, of its page, and no passkey of the sign-in for a new one', async () => {
    const { visitor, page } = await enter()
    const made = new Authenticator(origin).create(newOf(page))
    expect(outcomeOf(await visitor.add(page, made))).toBe('passkey-added')
    expect(outcomeOf(await visitor.add(page, made))).toBe('passkey-late')
    const other = await enter()
    expect(outcomeOf(await visitor.add(page, new Authenticator(origin).create(newOf(other.page))))).toBe('passkey-late')
  })

  test('changes nothing where a mailed code alone gave the password', async () => {
    const { person, visitor, page } = await enter()
    const begun = newOf(page)
    await users.store.execute({
      aggregate: { type: 'user', id: person.userId },
      call: call(),
      decide: () => ({
        events: [{ type: 'password.changed', payload: { byMail: true, keptSessionId: sessionOf(page) } }],
        answer: undefined,
      }),
    })
    expect(outcomeOf(await visitor.add(page, new Authenticator(origin).create(begun)))).toBe('passkey-by-mail')
    expect(partOf(await visitor.account({ section: 'passkeys' }))).toMatchObject({
      byMailAlone: true,
      newPasskey: undefined,
    })
  })

  const sessionOf = ({ answer }: PageAnswer) => (answer?.$case === 'account' ? answer.value.account!.sessionId : '')
})

test('a passkey page of a request is its browser’s alone', async () => {
  const [visitor, other] = [arrive(), arrive()]
  const page = await visitor.begin()
  expect(await other.renew(page)).toBeNull()
  expect(requestOf(await visitor.authorize())).not.toBe(page.requestId)
})

describe('a person with a passkey alone', () => {
  test('is told of another browser, and led to the passkeys where somebody else signed in', async () => {
    const { person, authenticator } = await withPasskey()
    await users.sql`delete from passwords where user_id = ${person.userId}`
    const enter = async () => {
      const visitor = arrive()
      const page = await visitor.begin()
      expect(isIn(await visitor.pass(page, authenticator.get(asked(page))))).toBe(true)
      // The browser is noted after the answer.
      await users.afterResponse.stop()
      return visitor
    }
    const mails = () => users.sql`
      select from unsent_mails where user_id = ${person.userId} and kind = 'new-sign-in'
    `
    await enter()
    expect(await mails()).toHaveLength(0)
    const visitor = await enter()
    expect(await mails()).toHaveLength(1)
    const shown = async (section: string) => {
      const page = await visitor.account({ section })
      return { page, value: page.answer?.$case === 'account' ? page.answer.value : undefined }
    }
    expect((await shown('sign-in')).value).toMatchObject({ lacksPassword: true, signsInByMail: false })
    const { page, value } = await shown('activity')
    const { id: sessionId } = value!.sessions!.sessions.find(({ isCurrent }) => !isCurrent)!
    const form = { browser: visitor.cookie, userId: person.userId, formToken: page.formToken, uiLocales: '' }
    const led = await disownSession(users, { ...form, sessionId }, call())
    expect(led.answer?.value).toMatchObject({ location: expect.stringContaining('/passkeys?outcome=not-me-passkey') })
    const left = (await shown('activity')).value!.sessions!.sessions.map(({ id }) => id)
    expect(left).not.toContain(sessionId)
  })
})
