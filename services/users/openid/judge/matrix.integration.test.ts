import { NewPasswordError } from '#gen/roster/users/v1/sign_in_service'
import type { User, UserEvent } from '../../directory/events/user.ts'
import { signIn } from '../../sessions/factors/testing/second-factors.ts'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { OIDCAuthMethodType } from '#gen/roster/grants/v1/application_service'
import { allow, call, closeWorld, openWorld, roles, users } from '../../sessions/factors/passkey/testing/world.ts'
import { noteApplication, told } from '../authorization/testing/visitors.ts'
import { ofBrowsers, ofPrograms, silently } from './testing/doors.ts'
import { deactivateUser } from '../../directory/operations/user/deactivate-user.ts'
import { lockUser } from '../../directory/operations/user/lock-user.ts'
import { give } from './testing/people.ts'
import { link, list, openProvider, serve, unlink } from './testing/provider.ts'
import { later, scope, type SignedIn, signedIn, signInTrusted } from './testing/sign-ins.ts'
import {
  baseOf,
  checked,
  doors,
  expected,
  firstOf,
  ofPeople,
  policies,
  policyNames,
  trustedFor,
} from './testing/tables.ts'

const clientOf = (row: string) => row.replaceAll(', ', '-')

beforeAll(async () => {
  await openWorld()
  const authMethodType = OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE
  const note = (name: string, more = {}) =>
    noteApplication(users, name, { firstParty: true, authMethodType, ...more }, { organizationId: 'acme' })
  await note('own', { loginBaseUri: 'https://login.example.com' })
  for (const [row] of ofPeople) await note(clientOf(row!))
  await openProvider()
}, 60_000)
afterAll(closeWorld)

test('the table of doors names each that is tried, the table of people each policy', () => {
  expect([...doors.keys()]).toEqual([...tries.keys()])
  expect(policyNames).toEqual(Object.keys(policies))
})

const tries = new Map(Object.entries({ ...ofBrowsers, ...ofPrograms }))

/** What a door answers by the tables. */
function answerOf(door: string, policy: string, { missing, isTrusted }: ReturnType<typeof expected>) {
  const { open, shut, trusted } = doors.get(door)!
  const word = missing.length === 0 ? open : isTrusted ? trusted : shut
  if (word === 'asks') return { asks: missing[0] }
  return word === 'asks from the beginning' ? { asks: firstOf(policy) } : word
}

/** Every door at every place. Else each door is tried with each row, and under each policy, of each kind of session. */
const isWhole = process.env['ROSTER_TEST_MATRIX'] === 'whole'
/** Of so many places, a door is tried at one. */
const oneIn = 3

function doorsAt(place: number): string[] {
  return [...tries.keys()].filter((_, at) => isWhole || (at + place) % oneIn === 0)
}

test.each(checked)(
  'a session with %s opens each door as the tables say, whatever the person has and the policy wants',
  async (done) => {
    const { state, things } = await signedIn(done)
    const [, second = 'nothing'] = done.split(', ')
    const isTrusted = second === 'trusted'
    for (const [rowAt, [row, ...cells]] of ofPeople.entries()) {
      const doorsOf = policyNames.map((_, policyAt) => doorsAt(checked.indexOf(done) + rowAt + policyAt))
      if (isTrusted && !trustedFor(row!, done)) continue
      // Few requests of a browser wait at a time. A code is given while nothing is missing, one for each try.
      await later()
      state.clientId = clientOf(row!)
      await allow({ allowPasskeys: true })
      if (isTrusted) await signInTrusted(row!, done, state, things)
      else {
        await give(second === 'codes' ? 'app, codes' : second, state.person, things)
        await allow(baseOf(done))
      }
      for (const _ of doorsOf.filter((here) => here.includes('a code at the token endpoint'))) {
        const answer = told(await silently(state))
        expect(answer).toHaveProperty('code')
        state.codes.push(answer['code']!)
      }
      if (!isTrusted) {
        await allow({ allowPasskeys: true })
        await give(row!, state.person, things)
      }
      for (const [at, policy] of policyNames.entries()) {
        await allow(policies[policy]!)
        const wanted = expected({ policy, row: row!, cell: cells[at]! }, done)
        // A browser asks for one page after the other.
        const here = doorsOf[at]!.map((door) => [door, tries.get(door)!] as const)
        const beside = Object.fromEntries(
          here.filter(([door]) => door in ofPrograms).map(([door, tried]) => [door, tried(state)]),
        )
        for (const [door, tried] of here) {
          const outcome = await (beside[door] ?? tried(state))
          expect({ row, policy, door, outcome }).toEqual({ row, policy, door, outcome: answerOf(door, policy, wanted) })
        }
      }
    }
  },
)

test('a password that somebody else set is missing at each door, until the person has chosen another one', async () => {
  await later()
  const { state } = await signedIn('password')
  const { userId, userName } = state.person
  state.codes.push(told(await silently(state))['code']!)
  const [kept] = await users.sql<{ id: string }[]>`
    select session_id as id from tokens where user_id = ${userId} and session_id not in ('', ${state.session.sessionId})
      and authorization_id is null
  `
  // As nobody can make it: with it, all that began before ends.
  const changed = {
    type: 'password.changed' as const,
    payload: { changeRequired: true as const, keptSessionId: kept!.id },
  }
  await users.store.execute<User, UserEvent, undefined, void>({
    aggregate: { type: 'user', id: userId },
    call: call(),
    decide: () => ({ events: [changed], answer: undefined }),
    respond: () => undefined,
  })
  state.session = await signIn(users, state.person)
  for (const [door, tried] of tries) {
    const { shut } = doors.get(door)!
    const asks = shut === 'asks' ? 'new password' : 'password'
    const outcome = shut.startsWith('asks') ? { asks } : shut
    expect({ door, outcome: await tried(state) }).toEqual({ door, outcome })
  }
  const come = async () => state.browser.follow(await state.browser.authorize({ clientId: state.clientId, scope }))
  expect((await come()).answer).toMatchObject({ $case: 'newPassword' })
  // Who finds the browser later knows no password.
  for (let minute = 0; minute < 11; minute++) await later()
  const stale = await come()
  expect(stale.answer).toMatchObject({ $case: 'signIn' })
  const asked = await state.browser.signIn(stale, userName)
  const choose = (password: string) => state.browser.choosePassword(asked, password)
  const { NEW_PASSWORD_ERROR_INVALID, NEW_PASSWORD_ERROR_TOO_COMMON, NEW_PASSWORD_ERROR_UNCHANGED } = NewPasswordError
  for (const [password, error] of [
    ['short', NEW_PASSWORD_ERROR_INVALID],
    ['password', NEW_PASSWORD_ERROR_TOO_COMMON],
    [`${userName}-password`, NEW_PASSWORD_ERROR_UNCHANGED],
  ] as const)
    expect((await choose(password)).answer).toMatchObject({ $case: 'newPassword', value: { error } })
  expect(told(await choose(`${userName}-another`))).toHaveProperty('code')
  expect(await ofPrograms['a refresh token']!(state)).toBe('tokens')
})

describe('what a sign-in at a provider opened', () => {
  const undone = async () => {
    await list(true)
    await serve(true)
  }
  afterEach(undone)

  /** With a code for each time that the doors are tried. */
  async function come(done: string): Promise<SignedIn> {
    await later()
    const { state } = await signedIn(done)
    await keepCodes(state)
    return state
  }
  const keepCodes = async (state: SignedIn) => {
    for (let more = 0; more < 3; more++) state.codes.push(told(await silently(state))['code']!)
  }
  const tryAll = async (state: SignedIn) => {
    const outcomes: Record<string, unknown> = {}
    for (const [door, tried] of tries) outcomes[door] = await tried(state)
    return outcomes
  }
  const allOf = (word: 'open' | 'shut') =>
    Object.fromEntries(
      [...tries.keys()].map((door) => {
        const answer = doors.get(door)![word]
        return [door, answer.startsWith('asks') ? { asks: 'password' } : answer]
      }),
    )

  test.each<[string, (state: SignedIn) => Promise<unknown>, ((state: SignedIn) => Promise<unknown>)?]>([
    ['the policy does not list it', () => list(false), () => list(true)],
    ['it is switched off', () => serve(false), () => serve(true)],
    ['the person is disconnected', ({ person }) => unlink(person)],
    ['the person is connected anew', async ({ person }) => (await unlink(person), link(person))],
    [
      'the person has a role on the instance',
      ({ person }) => Promise.resolve((roles[person.userId] = ['IAM_OWNER_VIEWER'])),
      ({ person }) => Promise.resolve(delete roles[person.userId]),
    ],
  ])('is shut at each door, and the password is asked for, while %s', async (_, shut, open) => {
    const state = await come('provider')
    await shut(state)
    expect(await tryAll(state)).toEqual(allOf('shut'))
    if (!open) return
    await open(state)
    expect(await tryAll(state)).toEqual(allOf('open'))
  })

  test.each([lockUser, deactivateUser])('ends as what a password opened, of who may not sign in', async (ends) => {
    const [ofProvider, ofPassword] = [await come('provider'), await come('password')]
    for (const { person } of [ofProvider, ofPassword]) await ends(users, { userId: person.userId }, call())
    const ended = await tryAll(ofPassword)
    expect(await tryAll(ofProvider)).toEqual(ended)
    const open = allOf('open')
    for (const [door, outcome] of Object.entries(await tryAll(ofProvider))) expect(outcome).not.toEqual(open[door])
  })
})
