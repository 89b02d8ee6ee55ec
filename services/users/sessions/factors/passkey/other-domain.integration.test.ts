import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { SecondFactorType } from '#gen/roster/users/v1/settings_service'
import type { PageAnswer } from '#gen/roster/users/v1/sign_in_service'
import { AuthenticationMethodType as Method } from '#gen/roster/users/v1/user_service'
import { told } from '../../../openid/authorization/testing/visitors.ts'
import { checkCode } from '../../../pages/operations/sign-in/check-code.ts'
import type { TestUsers } from '../../../testing/test-users.ts'
import { listAuthenticationMethodTypes } from '../../operations/factors/list-authentication-method-types.ts'
import { addApp, setPolicy } from '../testing/second-factors.ts'
import { allow, call, closeWorld, openWorld, users, Visitor, withPasskey } from './testing/world.ts'

/** The same people, once the domain is another one. */
let moved: TestUsers

beforeAll(async () => {
  await openWorld()
  moved = { ...users, config: { ...users.config, PASSKEY_RP_ID: 'other.example' } }
}, 60_000)
afterAll(closeWorld)
beforeEach(() => allow({ allowPasskeys: true }))

const only = (types: SecondFactorType[]) =>
  setPolicy(users, { allowPasskeys: true, forceMfa: true, secondFactors: { types } })

class Guest extends Visitor {
  async act({ requestId, formToken }: PageAnswer, action: string) {
    const request = { browser: this.cookie, requestId, formToken, code: '', action, factor: '', trust: '', trusts: '' }
    return this.follow(this.keep(await checkCode(this.users, request, this.call())))
  }
}

test('a passkey of another domain proves nothing, and its person sets up nothing in its place', async () => {
  const { person } = await withPasskey()
  await only([SecondFactorType.SECOND_FACTOR_TYPE_U2F, SecondFactorType.SECOND_FACTOR_TYPE_OTP])
  const visitor = new Guest(moved)
  let page = await visitor.signIn(await visitor.begin(), person.userName)
  expect(page.answer).toMatchObject({ $case: 'passkey', value: { passkey: undefined, isDead: true, ways: [] } })
  // Who knows the password would else have another factor.
  page = await visitor.act(page, 'set-up')
  expect(page.answer?.$case).toBe('passkey')
})

test('who has an app beside it is asked for that alone', async () => {
  const { person } = await withPasskey()
  await addApp(users, person as Parameters<typeof addApp>[1])
  const visitor = new Guest(moved)
  const page = await visitor.signIn(await visitor.begin(), person.userName)
  expect(page.answer).toMatchObject({ $case: 'factorCode', value: { ways: [] } })
})

test('nor is it what a request asks for, nor among the methods of its user', async () => {
  const { person } = await withPasskey()
  const claims = JSON.stringify({ id_token: { acr: { essential: true, value: 'phr' } } })
  const visitor = new Guest(moved)
  expect(told(await visitor.signIn(await visitor.begin({ claims }), person.userName))['error']).toBe(
    'unmet_authentication_requirements',
  )
  const methods = async (at: TestUsers) =>
    (await listAuthenticationMethodTypes(at, { userId: person.userId }, call())).authMethodTypes
  const passkey = Method.AUTHENTICATION_METHOD_TYPE_PASSKEY
  expect([await methods(users), await methods(moved)].map((all) => all.includes(passkey))).toEqual([true, false])
})
