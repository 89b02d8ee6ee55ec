import { beforeAll, describe, expect, inject, test } from 'vitest'
import postgres from 'postgres'
import {
  admin,
  getUser,
  newHuman,
  newMachine,
  newMember,
  newOrganization,
  ok,
  signIn,
  unique,
  uniqueEmail,
} from '../../examples/people.ts'
import { type Answer, factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'
import { hasMailbox, mailCount, mailTo, noticeTo } from '../mailbox.ts'

const { house } = inject('roster')
const mailbox = hasMailbox() ? '' : ' (skipped: ROSTER_E2E_MAILBOX_URL is not set)'
let home: string

beforeAll(async () => {
  home = await newOrganization()
})

const newPerson = () => newHuman(home, { password: unique('Password') })
const reasonOf = (answer: Answer) => factsOf(answer).reason ?? 'in'

describe.each(over('connect'))('a forgotten password over $encoding', ({ call }) => {
  const reset = (userId: string, verificationCode: string, newPassword = unique('Password')) =>
    call('ResetPassword', { userId, verificationCode, newPassword })

  test.skipIf(!hasMailbox())(
    `is renewed by a mailed code, which ends every session and works once${mailbox}`,
    async () => {
      const human = await newPerson()
      const token = await signIn(human)
      const before = await getUser(human.userId)
      expect(ok(await call('RequestPasswordReset', { loginName: human.userName }))).toEqual({})
      const { code, link } = await mailTo(human.email)
      expect(link).toContain(`#userId=${human.userId}&code=${code}`)
      expect(new URL(link).pathname).toBe('/ui/reset-password')
      expect(await getUser(human.userId)).toEqual(before)
      const password = unique('Password')
      const { details } = ok(await reset(human.userId, code, password))
      expect(details).toEqual((await getUser(human.userId)).details)
      await signIn({ ...human, password })
      const mine = async () => reasonOf(await call('GetUser', { userId: human.userId }, { token }))
      await expect.poll(mine, { timeout: 5000 }).toBe('TOKEN_INVALID')
      expect(reasonOf(await reset(human.userId, code))).toBe('CODE_INVALID')
      expect(reasonOf(await call('CreateSession', { loginName: human.userName, password: human.password }))).toBe(
        'CREDENTIALS_INVALID',
      )
    },
  )

  test('may be renewed by a code that a user manager was given, or by the same code through SetPassword', async () => {
    const manager = await newMember(home, ['ORG_USER_MANAGER'])
    const [one, other] = [await newPerson(), await newPerson()]
    const codeOf = async (userId: string) => {
      const { details } = await getUser(userId)
      // If-Match is about the user, though the code is what changes.
      const bound = { ...manager, headers: { 'if-match': `"${details.sequence}"` } }
      const answer = ok(await call('PasswordReset', { userId, returnCode: {} }, bound))
      expect(answer.details).toEqual(details)
      return answer.verificationCode
    }
    const [password, newPassword] = [unique('Password'), unique('Password')]
    ok(await reset(one.userId, await codeOf(one.userId), password))
    await signIn({ ...one, password })
    const token = await signIn(other)
    const verificationCode = await codeOf(other.userId)
    const request = { userId: other.userId, newPassword: { password: newPassword }, verificationCode }
    ok(await call('SetPassword', request, { token }))
    ok(await call('GetUser', { userId: other.userId }, { token }))
    await signIn({ ...other, password: newPassword })
  })

  test('a code works no more after five wrong ones', async () => {
    const { userId } = await newPerson()
    const { verificationCode } = ok(await call('PasswordReset', { userId, returnCode: {} }, admin(home)))
    for (let n = 0; n < 5; n++) expect(reasonOf(await reset(userId, `WRONG${n + 2}`))).toBe('CODE_INVALID')
    expect(reasonOf(await reset(userId, verificationCode))).toBe('CODE_INVALID')
  })

  test.skipIf(!hasMailbox())(`the former address gets a notice of the new one, without a code${mailbox}`, async () => {
    const { userId, email } = await newPerson()
    ok(await call('SetEmail', { userId, email: uniqueEmail(), returnCode: {} }, admin(home)))
    const { subject, text } = await noticeTo(email)
    expect(subject).toBe('The address of your account was changed')
    expect(text).toContain('UTC')
    const filter = { aggregateTypes: ['user.email.notice'], aggregateIds: [userId] }
    const types = async () =>
      (ok(await call('SearchEvents', { filter }, admin())).events ?? []).map(({ type }: any) => type)
    await expect.poll(types).toEqual(['roster.user.email.notice.sent.v1'])
    expect(await mailCount(email)).toBe(1)
    const deliveries = async () =>
      ok(await call('SearchDeliveries', { userId, kind: 'DELIVERY_KIND_MAIL' }, admin(home))).deliveries.map(
        ({ state, eventType }: any) => [eventType, state],
      )
    await expect.poll(deliveries).toEqual([['roster.user.email.notice.requested.v1', 'DELIVERY_STATE_SENT']])
  })
})

test('a request for a code has the same answer for every name', async () => {
  const machine = unique('machine')
  await newMachine(home, machine)
  const unverified = await newHuman(home, { verification: { returnCode: {} } })
  const known = await newPerson()
  const names = [known.userName, unverified.userName, machine, unique('no-one'), `${unique('no-one')}@unknown.example`]
  const answers: Answer[] = []
  for (const loginName of names) answers.push(await json('RequestPasswordReset', { loginName }))
  const seen = answers.map(({ headers, ok: response, http }) => ({ names: Object.keys(headers), response, http }))
  for (const one of seen) expect(one).toEqual(seen[0])
  expect(seen[0]).toMatchObject({ response: {}, http: 200 })
})

test.skipIf(!house)(
  `the answer does not wait for the database, so its time reveals nothing${house ? '' : ' (skipped: a Roster by URL hides its database)'}`,
  async () => {
    const { userName } = await newPerson()
    const sql = postgres(house!.databaseUrl, { max: 1, onnotice: () => {} })
    await sql.begin(async (transaction) => {
      // No one finds a user meanwhile.
      await transaction`lock table roster_users.unique_keys in access exclusive mode`
      for (const loginName of [userName, unique('no-one')])
        expect(ok(await json('RequestPasswordReset', { loginName }))).toEqual({})
    })
    await sql.end()
  },
)

test('a user manager makes no code for a user with a role above the own, however it asks', async () => {
  const [manager, owner] = [await newMember(home, ['ORG_USER_MANAGER']), await newMember(home, ['ORG_OWNER'])]
  for (const medium of [{}, { returnCode: {} }, { sendLink: {} }]) {
    const answer = await json('PasswordReset', { userId: owner.userId, ...medium }, manager)
    expect(reasonOf(answer)).toBe('PERMISSION_DENIED')
  }
})
