import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { IssueTokenRequest as codec } from '#gen/roster/users/v1/oauth_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { readNow } from '#lib/database/database'
import type { User } from '../../directory/events/user.ts'
import { redirectUri, told } from '../../openid/authorization/testing/visitors.ts'
import { issueToken } from '../../openid/operations/issue-token.ts'
import { makeChallenge } from '../../sessions/factors/passkey/challenge.ts'
import { factors } from '../../sessions/factors/registry.ts'
import { addApp } from '../../sessions/factors/testing/second-factors.ts'
import { Authenticator, type CreationOptions, type Lies } from '../../sessions/factors/passkey/testing/authenticator.ts'
import {
  allow,
  asked,
  call,
  closeWorld,
  errorOf,
  newPerson,
  openWorld,
  origin,
  type Person,
  reasonOf,
  users,
  Visitor,
  withPasskey,
} from '../../sessions/factors/passkey/testing/world.ts'
import { checkCode } from '../operations/sign-in/check-code.ts'

beforeAll(() => openWorld(), 60_000)
afterAll(closeWorld)
beforeEach(() => allow({ allowPasskeys: true }))

/** What an authenticator answers where nobody is there. */
const nobody: Lies = { up: false, uv: false }
const isIn = (page: PageAnswer) => told(page)['code'] !== undefined

class Guest extends Visitor {
  /** Signs in where the browser can make a passkey, and returns what comes then. */
  async enter({ userName }: Person, newPasskey = 'conditional', page?: PageAnswer): Promise<PageAnswer> {
    const shown = page ?? (await this.begin())
    return this.follow(await this.post(shown, { loginName: userName, password: `${userName}-password`, newPasskey }))
  }

  make(page: PageAnswer, credential: unknown) {
    return this.pass(page, credential, 'add')
  }

  async code({ requestId, formToken }: PageAnswer, code: string) {
    const request = { browser: this.cookie, requestId, formToken, code, action: 'check', factor: 'totp' }
    const { trust } = this
    return this.follow(this.keep(await checkCode(this.users, { ...request, trust, trusts: 'on' }, this.call())))
  }
}
const arrive = () => new Guest(users)

function offered({ answer }: PageAnswer) {
  if (answer?.$case !== 'passkeyOffer') return undefined
  const { passkey, conditional } = answer.value
  const options = JSON.parse(passkey?.options ?? 'null') as
    | (CreationOptions & { authenticatorSelection: { userVerification: string } })
    | null
  return { conditional, options: options! }
}

const passkeysOf = async ({ userId }: Person) =>
  (await users.store.load<User>('user', userId))?.state.human?.passkeys ?? []

/** A person for whom the browser made a passkey by itself. */
async function withConditional() {
  const person = await newPerson()
  const visitor = arrive()
  const page = await visitor.enter(person)
  const authenticator = new Authenticator(origin)
  expect(isIn(await visitor.make(page, authenticator.create(offered(page)!.options, nobody)))).toBe(true)
  return { person, visitor, authenticator }
}

async function amrOf(page: PageAnswer) {
  const request = { ...codec.decode(new Uint8Array()), grantType: 'authorization_code', clientId: 'client' }
  const proof = { code: told(page)['code']!, codeVerifier: 'verifier', redirectUri }
  return decodeJwt((await issueToken.handle(users, { ...request, ...proof }, call())).idToken!)['amr']
}

describe('after a complete sign-in with a password', () => {
  test('a browser makes a passkey without asking, and a mail tells of it', async () => {
    const { person } = await withConditional()
    expect(await passkeysOf(person)).toMatchObject([{ conditional: true }])
    const mails = await users.sql`select kind from unsent_mails where user_id = ${person.userId}`
    expect(mails.map(({ kind }) => kind as string)).toContain('passkey-added')
  })

  test('one that asks first has a person touch it, who is made sure of', async () => {
    const person = await newPerson()
    const visitor = arrive()
    for (const lies of [nobody, { uv: false }, { up: false }]) {
      const page = await visitor.enter(person, 'button', await visitor.begin({ prompt: 'login' }))
      const { conditional, options } = offered(page)!
      expect([conditional, options.authenticatorSelection.userVerification]).toEqual([false, 'required'])
      const failed = await visitor.make(page, new Authenticator(origin).create(options, lies))
      // The person is told, and goes on.
      expect(failed.answer).toMatchObject({ $case: 'passkeyOffer', value: { passkey: undefined } })
      expect(isIn(await visitor.show(failed.requestId))).toBe(true)
      visitor.cookie = ''
    }
    expect(await passkeysOf(person)).toEqual([])
    const page = await visitor.enter(person, 'button')
    expect(isIn(await visitor.make(page, new Authenticator(origin).create(offered(page)!.options)))).toBe(true)
    expect(await passkeysOf(person)).toMatchObject([{ rpId: 'localhost' }])
    expect((await passkeysOf(person))[0]!.conditional).toBeUndefined()
  })

  test('the page is shown once, and whatever comes of it, the sign-in goes on', async () => {
    const person = await newPerson()
    const visitor = arrive()
    const page = await visitor.enter(person)
    expect(isIn(await visitor.show(page.requestId))).toBe(true)
    visitor.cookie = ''
    const again = await visitor.enter(person)
    expect(isIn(await visitor.make(again, 'no credential'))).toBe(true)
    expect(await passkeysOf(person)).toEqual([])
    // An old browser says nothing.
    expect(isIn(await visitor.enter(person, '', await visitor.begin({ prompt: 'login' })))).toBe(true)
  })

  test('it is offered before the page of the account as well', async () => {
    const person = await newPerson()
    const visitor = arrive()
    const page = await visitor.enter(person, 'conditional', await visitor.account())
    await visitor.make(page, new Authenticator(origin).create(offered(page)!.options, nobody))
    expect(await passkeysOf(person)).toHaveLength(1)
    expect((await visitor.account()).answer?.$case).toBe('account')
  })

  test('none is offered to who has one, nor where the policy allows none', async () => {
    const { person } = await withPasskey()
    expect(isIn(await arrive().enter(person))).toBe(true)
    const other = await newPerson()
    await allow({ allowPasskeys: false })
    expect(isIn(await arrive().enter(other))).toBe(true)
  })

  test('none is offered where a mailed code set the password: the mailbox alone adds nothing', async () => {
    const person = await newPerson()
    await users.store.execute({
      aggregate: { type: 'user', id: person.userId },
      call: call(),
      decide: () => ({ events: [{ type: 'password.changed', payload: { byMail: true } }], answer: undefined }),
    })
    expect(isIn(await arrive().enter(person))).toBe(true)
  })

  test('none is offered where a trusted browser stood in for a factor, but where that was checked now', async () => {
    await allow({ allowPasskeys: true, trustedBrowserDays: 10 })
    const person = await newPerson()
    const app = await addApp(users, person as Parameters<typeof addApp>[1])
    const visitor = arrive()
    const page = await visitor.code(await visitor.enter(person), await app.code(1))
    expect(offered(page)).toMatchObject({ conditional: true })
    expect(isIn(await visitor.show(page.requestId))).toBe(true)
    visitor.cookie = ''
    expect(isIn(await visitor.enter(person))).toBe(true)
  })
})

describe('a challenge that is taken without a touch', () => {
  test('counts on its page alone, and no other is taken so', async () => {
    const person = await newPerson()
    const visitor = arrive()
    const page = await visitor.enter(person)
    const authenticator = new Authenticator(origin)
    const elsewhere = await visitor.account({ section: 'passkeys' })
    const account = (shown: PageAnswer) => (shown.answer?.$case === 'account' ? shown.answer.value : undefined)
    const options = JSON.parse(account(elsewhere)!.passkeys!.newPasskey!.options) as CreationOptions
    const made = authenticator.create(offered(page)!.options)
    expect(account(await visitor.add(elsewhere, made))!.outcome).toBe('passkey-late')
    expect(account(await visitor.add(elsewhere, authenticator.create(options, nobody)))!.outcome).toBe(
      'passkey-invalid',
    )
    expect(isIn(await visitor.make(page, authenticator.create(options)))).toBe(true)
    expect(await passkeysOf(person)).toEqual([])
  })

  test('counts once, in its browser, for its person', async () => {
    const [person, thief] = [await newPerson(), await newPerson()]
    const [visitor, other] = [arrive(), arrive()]
    const [page, foreign] = [await visitor.enter(person), await other.enter(thief)]
    const authenticator = new Authenticator(origin)
    const made = authenticator.create(offered(page)!.options, nobody)
    expect(isIn(await other.make(foreign, made))).toBe(true)
    expect(await passkeysOf(thief)).toEqual([])
    expect(isIn(await visitor.make(page, made))).toBe(true)
    const second = new Authenticator(origin).create(offered(page)!.options, nobody)
    await visitor.make(page, second)
    expect(await passkeysOf(person)).toHaveLength(1)
  })

  test('counts no more once the policy allows no passkeys, or demands a factor that was not proved', async () => {
    for (const policy of [{ allowPasskeys: false }, { allowPasskeys: true, forceMfa: true }]) {
      const person = await newPerson()
      const visitor = arrive()
      const page = await visitor.enter(person)
      await allow(policy)
      await visitor.make(page, new Authenticator(origin).create(offered(page)!.options, nobody))
      expect(await passkeysOf(person)).toEqual([])
      await allow({ allowPasskeys: true })
    }
  })
})

describe('a passkey that was made without a touch', () => {
  test('opens a session once its authenticator makes sure of the person, and is one as any other then', async () => {
    const { person, authenticator } = await withConditional()
    const visitor = arrive()
    let page = await visitor.begin()
    page = await visitor.pass(page, authenticator.get(asked(page), { uv: false }))
    expect(errorOf(page)).toBe('SIGN_IN_ERROR_PASSKEY_UNVERIFIED')
    expect(await passkeysOf(person)).toMatchObject([{ conditional: true }])
    page = await visitor.pass(page, authenticator.get(asked(page)))
    expect(await amrOf(page)).toEqual(['pop', 'user', 'mfa'])
    expect((await passkeysOf(person))[0]!.conditional).toBeUndefined()
  })

  test('is no second factor by a touch alone, until its authenticator has made sure of the person', async () => {
    const { person, authenticator } = await withConditional()
    const binding = { for: 'session', sessionId: 'a-session', userId: person.userId } as const
    const prove = async (lies?: Lies) => {
      const challenge = makeChallenge(users.keys, binding, { verifies: false }, await readNow(users.sql))
      const text = JSON.stringify(authenticator.get({ challenge }, lies))
      return reasonOf(factors.passkey.check(users, { loginName: '', text, asked: { binding } }, call()))
    }
    const tries = [await prove({ uv: false }), await prove(), await prove({ uv: false })]
    expect(tries).toEqual(['PASSKEY_UNVERIFIED', 'in', 'in'])
  })
})
