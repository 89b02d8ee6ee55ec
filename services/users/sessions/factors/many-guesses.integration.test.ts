import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { OIDCAuthMethodType } from '#gen/roster/grants/v1/application_service'
import { CodeError, type PageAnswer, SignInError } from '#gen/roster/users/v1/sign_in_service'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import type { SecondFactorKind } from '../../directory/events/human.ts'
import { noteApplication, nothingNewer, Visitor as Anyone } from '../../openid/authorization/testing/visitors.ts'
import { checkCode } from '../../pages/operations/sign-in/check-code.ts'
import { openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { createSession } from '../operations/session/create-session.ts'
import { generateRecoveryCodes } from '../operations/factors/generate-recovery-codes.ts'
import { addOTPEmail } from '../operations/factors/otp-email.ts'
import { setSession } from '../operations/session/set-session.ts'
import {
  addApp,
  call,
  newPerson,
  type Person,
  reasonOf,
  type Session,
  set,
  setPolicy,
} from './testing/second-factors.ts'

// Somebody who knows the password guesses at a second factor by every way at once: new sessions of the API and of pages, the
// person named by the id and by names in other spellings, at two replicas. All of it counts as one. With
// ROSTER_TEST_GUESSES=10000 it takes minutes.

const guesses = Number(process.env['ROSTER_TEST_GUESSES'] ?? 300)
const timeout = 60_000 + guesses * 300
const [days, windows] = [5, 5]
const most = { window: 5, day: 20, ever: 100 }

let database: TestDatabase
let grants: { stop(): Promise<void> }
let replicas: [TestUsers, TestUsers]
beforeAll(async () => {
  database = await createDatabase()
  grants = await serveDomains({ 'acme.example': 'acme' }, {}, { copied: nothingNewer(['client']) })
  replicas = [await openUsers(database.urls.users), await openUsers(database.urls.users)]
  const authMethodType = OIDCAuthMethodType.OIDC_AUTH_METHOD_TYPE_NONE
  await noteApplication(replicas[0], 'client', { firstParty: true, authMethodType }, { organizationId: 'acme' })
}, 60_000)
afterAll(async () => {
  await Promise.all([...(replicas ?? []).map((one) => one.stop()), grants?.stop()])
  await database?.drop()
})
afterEach(() => shiftClock(replicas[0].sql, '0 seconds'))

const spellings = ({ userName }: Person) => [
  userName,
  userName.toUpperCase(),
  ` ${userName} `,
  `${userName}@acme.example`,
]

/** What a guess got. */
type Outcome = 'wrong' | 'throttled' | 'locked' | 'in'
type Door = (code: string) => Promise<Outcome>

const outcomes: Record<string, Outcome> = {
  in: 'in',
  CODE_INVALID: 'wrong',
  FACTOR_THROTTLED: 'throttled',
  FACTOR_LOCKED: 'locked',
  [CodeError.CODE_ERROR_WRONG]: 'wrong',
  [CodeError.CODE_ERROR_OVER]: 'wrong',
  [CodeError.CODE_ERROR_THROTTLED]: 'throttled',
  [CodeError.CODE_ERROR_LOCKED]: 'locked',
}

const outcomeOf = (said: string | number): Outcome => {
  const outcome = outcomes[said]
  if (!outcome) throw new Error(`a guess got ${said}`)
  return outcome
}

const fields = { totp: 'totpCode', 'otp-email': 'otpEmailCode', 'recovery-code': 'recoveryCode' } as const
type Kind = keyof typeof fields & SecondFactorKind

/** New sessions with the right password, over the API, each with another name of the person: another two each day. */
async function openSessions(person: Person, kind: Kind, day: number): Promise<Door[]> {
  const password = `${person.userName}-password`
  const all = [{ userId: person.userId }, ...spellings(person).map((loginName) => ({ loginName }))]
  const named = [0, 1].map((n) => all[(2 * day + n) % all.length]!)
  return Promise.all(
    named.map(async (name, n) => {
      const users = replicas[n % 2]!
      const isById = 'userId' in name
      const request = { userId: '', loginName: '', lifetime: undefined, password: isById ? '' : password, ...name }
      const session: Session = await createSession.handle(users, request, call())
      if (isById) Object.assign(session, await set(users, session, { password }))
      if (kind === 'otp-email')
        await set(users, session, { otpEmail: { delivery: { $case: 'returnCode', value: {} } } })
      return async (code) => outcomeOf(await reasonOf(set(users, session, { [fields[kind]]: code })))
    }),
  )
}

class Visitor extends Anyone {
  async send({ requestId, formToken }: PageAnswer, given: { action?: string; code?: string; factor?: string }) {
    const request = {
      browser: this.cookie,
      requestId,
      formToken,
      code: '',
      action: 'check',
      factor: '',
      trust: '',
      trusts: '' as const,
      ...given,
    }
    return this.follow(this.keep(await checkCode(this.users, request, this.call())))
  }
}

/** A sign-in on the page, in a new browser. One after the other, as its buttons are pressed. */
async function openPage(person: Person, kind: Kind, n: number): Promise<Door> {
  const visitor = new Visitor(replicas[n % 2]!)
  const asked = await visitor.signIn(await visitor.begin(), spellings(person)[n]!, `${person.userName}-password`)
  const actions = { totp: 'by-totp', 'otp-email': 'by-mail', 'recovery-code': 'by-recovery-code' }
  const page = await visitor.send(asked, { action: actions[kind] })
  let last = Promise.resolve<unknown>(undefined)
  const guess = async (code: string) => {
    const { answer } = await visitor.send(page, { factor: kind === 'otp-email' ? '' : kind, code })
    if (answer?.$case === 'code' || answer?.$case === 'factorCode') return outcomeOf(answer.value.error)
    return 'in'
  }
  return (code) => {
    const next = last.then(() => guess(code))
    last = next.catch(() => {})
    return next
  }
}

const count = (found: Outcome[], which: Outcome) => found.filter((one) => one === which).length

/** So many wrong codes were compared, as events and the row of the count say. */
async function compared({ userId }: Person, kind: Kind): Promise<number> {
  const [row] = await replicas[0].sql<[{ events: number; wrong: number }]>`
    select (
      select count(*)::int from events
      where type = 'factor.rejected' and payload ->> 'userId' = ${userId} and payload ->> 'kind' = ${kind}
    ) as events,
    (select coalesce(sum(wrong), 0)::int from factor_guesses where user_id = ${userId} and kind = ${kind}) as wrong
  `
  expect(row.events).toBe(row.wrong)
  return row.events
}

/** Guesses by all doors in turn, some at once. */
async function guess(doors: Door[], times: number, wrong: string): Promise<Outcome[]> {
  const found: Outcome[] = []
  for (let done = 0; done < times; done += 24) {
    const some = Array.from({ length: Math.min(24, times - done) }, (_, n) => doors[(done + n) % doors.length]!(wrong))
    found.push(...(await Promise.all(some)))
  }
  return found
}

/** Of each kind: a person who has it, and another factor, with the right code of each. */
const kinds: Record<Kind, { wrong: string; prepare(): Promise<{ person: Person; other: () => Promise<object> }> }> = {
  totp: {
    wrong: 'x',
    async prepare() {
      const person = await newPerson(replicas[0], 'totp')
      await addApp(replicas[0], person)
      const { recoveryCodes } = await generateRecoveryCodes.handle(replicas[0], { userId: person.userId }, call())
      return { person, other: async () => ({ recoveryCode: recoveryCodes[0]! }) }
    },
  },
  'otp-email': {
    wrong: 'ZZZZZZ',
    async prepare() {
      const person = await newPerson(replicas[0], 'mail')
      const app = await addApp(replicas[0], person)
      await addOTPEmail.handle(replicas[0], person, call())
      return { person, other: async () => ({ totpCode: await app.code(1) }) }
    },
  },
  'recovery-code': {
    wrong: 'AAAA-AAAA-AAAA-AAAA',
    async prepare() {
      const person = await newPerson(replicas[0], 'codes')
      const app = await addApp(replicas[0], person)
      await generateRecoveryCodes.handle(replicas[0], { userId: person.userId }, call())
      return { person, other: async () => ({ totpCode: await app.code(1) }) }
    },
  },
}

describe.each(Object.keys(kinds) as Kind[])(`${guesses} guesses at %s`, (kind) => {
  test(
    'by every way together are five within ten minutes, twenty a day and a hundred ever; another factor helps',
    { timeout },
    async () => {
      const [users] = replicas
      const { wrong, prepare } = kinds[kind]
      const { person, other } = await prepare()
      const each = Math.floor((guesses * 0.9) / (days * windows))
      const all: Outcome[] = []
      let doors: Door[] = []
      for (let day = 0; day < days; day++) {
        await shiftClock(users.sql, `${day * 25} hours`)
        doors = [
          ...(await openSessions(person, kind, day)),
          await openPage(person, kind, day % spellings(person).length),
        ]
        for (let window = 0; window < windows; window++) {
          await shiftClock(users.sql, `${day * 25 * 60 + window * 11} minutes`)
          const found = await guess(doors, each, wrong)
          const left = most.day - window * most.window
          expect([day, window, count(found, 'wrong')]).toEqual([day, window, Math.min(most.window, left)])
          all.push(...found)
        }
        expect(await compared(person, kind)).toBe((day + 1) * most.day)
      }
      // The next day none is compared any more.
      await shiftClock(users.sql, `${days * 25} hours`)
      doors = [...(await openSessions(person, kind, days)), await openPage(person, kind, 3)]
      all.push(...(await guess(doors, guesses - all.length, wrong)))
      expect([all.length, count(all, 'wrong'), count(all, 'in')]).toEqual([guesses, most.ever, 0])
      expect(count(all, 'locked')).toBe(guesses - each * days * windows)
      expect(await compared(person, kind)).toBe(most.ever)
      const told = await users.sql`
        select from unsent_mails where user_id = ${person.userId} and kind = 'factor-guessed'
      `
      expect(told).toHaveLength(days)
      const session = await createSession.handle(
        users,
        { userId: '', loginName: person.userName, password: `${person.userName}-password`, lifetime: undefined },
        call(),
      )
      expect(await reasonOf(set(users, session, await other()))).toBe('in')
    },
  )
})

test(
  `${guesses} guesses at a password from one address, by every name and door, are five at once and one a minute`,
  { timeout },
  async () => {
    const person = await newPerson(replicas[0], 'password')
    const clientAddress = '2001:db8:ffff::'
    const from = () => ({ ...call(), clientAddress })
    const byApi = (users: TestUsers, name: { loginName: string } | { userId: string }): Door => {
      const request = { userId: '', loginName: '', lifetime: undefined, password: 'wrong' }
      if ('loginName' in name)
        return async () => said(await reasonOf(createSession.handle(users, { ...request, ...name }, from())))
      // Whoever names the user by the id brings the password later.
      return async () => {
        const session = await createSession.handle(users, { ...request, ...name, password: '' }, from())
        return said(await reasonOf(setFrom(users, session)))
      }
    }
    const setFrom = (users: TestUsers, { sessionId, sessionToken }: Session) => {
      const given = { password: 'wrong', otpEmailCode: '', lifetime: undefined }
      return setSession.handle(users, { sessionId, sessionToken, ...given }, from())
    }
    const said = (reason: string): Outcome => {
      const outcome = { in: 'in', CREDENTIALS_INVALID: 'wrong', SIGN_IN_THROTTLED: 'throttled' }[reason]
      if (!outcome) throw new Error(`a guess got ${reason}`)
      return outcome as Outcome
    }
    const visitor = Object.assign(new Visitor(replicas[1]), { address: clientAddress })
    const page = await visitor.begin()
    const byPage: Door = async () => {
      const { answer } = await visitor.signIn(page, person.userName.toUpperCase(), 'wrong')
      if (answer?.$case !== 'signIn') return 'in'
      return answer.value.error === SignInError.SIGN_IN_ERROR_THROTTLED ? 'throttled' : 'wrong'
    }
    const doors = [
      byApi(replicas[0], { userId: person.userId }),
      ...spellings(person).map((loginName, n) => byApi(replicas[n % 2]!, { loginName })),
      byPage,
    ]
    const began = Date.now()
    const found = await guess(doors, guesses, 'wrong')
    const minutes = Math.ceil((Date.now() - began) / 60_000)
    expect([found.length, count(found, 'in')]).toEqual([guesses, 0])
    expect(count(found, 'wrong')).toBeGreaterThanOrEqual(5)
    expect(count(found, 'wrong')).toBeLessThanOrEqual(5 + minutes)
    // Nobody is shut out elsewhere.
    const request = {
      userId: '',
      loginName: person.userName,
      password: `${person.userName}-password`,
      lifetime: undefined,
    }
    expect(await reasonOf(createSession.handle(replicas[0], request, call()))).toBe('in')
  },
)

test(
  `${guesses} guesses at the code that signs in where the policy wants no passwords are five of each code, and hold nobody up`,
  { timeout },
  async () => {
    const [users] = replicas
    const person = await newPerson(users, 'by-code')
    await setPolicy(users, { allowMailedCodes: true, allowUsernamePassword: false })
    const administrator = () => ({ ...call(), caller: { ...call().caller, instanceRoles: ['IAM_OWNER'] } })
    const delivery = { $case: 'returnCode', value: {} } as const
    const opened = async (name: { userId: string } | { loginName: string }, n: number) => {
      const request = { userId: '', loginName: '', password: '', lifetime: undefined, ...name }
      const session = await createSession.handle(replicas[n % 2]!, request, call())
      const asked = { ...session, password: '', otpEmailCode: '', lifetime: undefined, otpEmail: { delivery } }
      return { session, code: (await setSession.handle(users, asked, administrator())).challenges!.otpEmail! }
    }
    const names = [{ userId: person.userId }, ...spellings(person).map((loginName) => ({ loginName }))]
    const sessions = await Promise.all(names.map(opened))
    const byApi = sessions.map(
      ({ session }, n): Door =>
        async (otpEmailCode) =>
          outcomeOf(await reasonOf(set(replicas[n % 2]!, session, { otpEmailCode }))),
    )
    const byPage = await Promise.all(
      spellings(person).map(async (loginName, n): Promise<Door> => {
        const visitor = new Visitor(replicas[n % 2]!)
        const first = await visitor.begin()
        const page = await visitor.follow(await visitor.post(first, { loginName, action: 'mail-code' }))
        return async (code) => {
          const { answer } = await visitor.follow(await visitor.post(page, { code, action: 'check-code' }))
          return answer?.$case === 'mailedCode' ? outcomeOf(answer.value.error) : 'in'
        }
      }),
    )
    await Promise.all(replicas.map((one) => one.afterResponse.stop()))
    const right = await opened({ userId: person.userId }, 0)
    const found = await guess([...byApi, ...byPage], guesses, 'ZZZZZZ')
    expect([found.length, count(found, 'wrong')]).toEqual([guesses, guesses])
    const tried = await users.sql<{ tries: number }[]>`
      select tries from secrets where kind = 'sign-in-code' and user_id = ${person.userId} order by tries
    `
    expect(tried.map(({ tries }) => tries)).toEqual([0, ...[...byApi, ...byPage].map(() => 5)])
    // Not even the right one counts where the tries are used up; the person's own is not held up.
    expect(await byApi[0]!(sessions[0]!.code)).toBe('wrong')
    expect(await reasonOf(set(users, right.session, { otpEmailCode: right.code }))).toBe('in')
    await setPolicy(users, {})
  },
)
