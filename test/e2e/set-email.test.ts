import { beforeAll, describe, expect, test } from 'vitest'
import {
  admin,
  type ExampleHuman,
  getUser,
  newHuman,
  newMachine,
  newMember,
  newOrganization,
  ok,
  uniqueEmail,
} from '../examples/people.ts'
import { factsOf } from './clients/call.ts'
import { over } from './clients/encodings.ts'
import { hasMailbox, mailCount, mailTo } from './mailbox.ts'

/** The expected address and code after a change. */
interface Expected {
  isVerified: boolean
  /** Whether the code is in the answer, in a mail, or missing. */
  code: 'returned' | 'mailed' | 'none'
}

const choices = {
  nothing: {},
  'sendCode {}': { sendCode: {} },
  'sendCode with a template': { sendCode: { urlTemplate: 'https://app.example.com/v?u={{.UserID}}&c={{.Code}}' } },
  returnCode: { returnCode: {} },
  'isVerified: true': { isVerified: true },
  'isVerified: false': { isVerified: false },
}
type Choice = keyof typeof choices

const unverified = (code: 'returned' | 'mailed'): Expected => ({ isVerified: false, code })
const verified: Expected = { isVerified: true, code: 'none' }
const another: Record<Choice, Expected | 'refused'> = {
  nothing: unverified('mailed'),
  'sendCode {}': unverified('mailed'),
  'sendCode with a template': unverified('mailed'),
  returnCode: unverified('returned'),
  'isVerified: true': verified,
  'isVerified: false': unverified('mailed'),
}
const sameVerified: typeof another = {
  nothing: 'refused',
  'sendCode {}': 'refused',
  'sendCode with a template': 'refused',
  returnCode: 'refused',
  'isVerified: true': verified,
  'isVerified: false': unverified('mailed'),
}
const cases = [
  { address: 'another', before: true, choiceTable: another },
  { address: 'another', before: false, choiceTable: another },
  { address: 'same', before: true, choiceTable: sameVerified },
  { address: 'same', before: false, choiceTable: another },
].flatMap(({ choiceTable, ...state }) =>
  Object.entries(choiceTable).map(([choice, expected]) => ({ ...state, choice: choice as Choice, expected })),
)

let organization: string

beforeAll(async () => {
  organization = await newOrganization()
})

describe.each(over('grpc'))('SetEmail over $encoding', ({ call }) => {
  const set = (userId: string, email: string, choice: object = { returnCode: {} }) =>
    call('SetEmail', { userId, email, ...choice }, admin())
  const verify = (userId: string, verificationCode: string) => call('VerifyEmail', { userId, verificationCode })

  test.each(cases)(
    '$address address, verified before: $before, $choice',
    async ({ address, before, choice, expected }) => {
      const human = await newHuman(organization, { verification: before ? { isVerified: true } : { returnCode: {} } })
      const email = address === 'same' ? human.email : uniqueEmail()
      const answer = await set(human.userId, email, choices[choice])
      const user = await getUser(human.userId)
      if (expected === 'refused') {
        expect(factsOf(answer)).toMatchObject({ code: 9, reason: 'EMAIL_NOT_CHANGED' })
        expect(user.human.email).toEqual({ email: human.email, isVerified: true })
        return
      }
      expect(user.human.email).toEqual({ email, ...(expected.isVerified && { isVerified: true }) })
      expect('verificationCode' in ok(answer)).toBe(expected.code === 'returned')
      if (human.emailCode)
        expect(factsOf(await verify(human.userId, human.emailCode)).reason, 'the old code').toBe('CODE_INVALID')
      await expectCode(human, email, expected, answer.ok.verificationCode)
    },
  )

  async function expectCode({ userId }: ExampleHuman, email: string, expected: Expected, returned: string | undefined) {
    if (expected.code === 'none') return
    if (expected.code === 'mailed' && !hasMailbox()) return
    const code = expected.code === 'mailed' ? (await mailTo(email)).code : returned!
    ok(await verify(userId, code))
    expect((await getUser(userId)).human.email).toEqual({ email, isVerified: true })
    // The code has just been verified. So a mail with a returned code would have been sent by now.
    if (hasMailbox()) expect(await mailCount(email)).toBe(expected.code === 'mailed' ? 1 : 0)
  }

  test('details are sequence, change date and owner: no creation date', async () => {
    const { userId } = await newHuman(organization)
    const before = (await getUser(userId)).details
    const { details } = ok(await set(userId, uniqueEmail()))
    const after = (await getUser(userId)).details
    expect(details).toEqual({ sequence: after.sequence, changeDate: after.changeDate, resourceOwner: organization })
    expect(Number(details.sequence)).toBeGreaterThan(Number(before.sequence))
  })

  test('the same verified address with isVerified true: no event, the same details', async () => {
    const { userId, email } = await newHuman(organization)
    const { creationDate: _, ...before } = (await getUser(userId)).details
    expect(ok(await set(userId, email, { isVerified: true })).details).toEqual(before)
  })

  test('an address is not unique across users', async () => {
    const [one, other] = [await newHuman(organization), await newHuman(organization)]
    ok(await set(other.userId, one.email, { isVerified: true }))
  })

  test.each(['plain', 'a@', '@b.example', 'Ada <ada@example.com>', 'a@b.example, c@d.example', 'a b@c.example', ''])(
    '%j is no valid address: refused, and the address stays unchanged',
    async (text) => {
      const { userId, email } = await newHuman(organization)
      expect(factsOf(await set(userId, text))).toMatchObject({ code: 3, fields: ['email'] })
      expect((await getUser(userId)).human.email).toEqual({ email, isVerified: true })
    },
  )

  test('a user manager may for users of the organization; unknown and foreign users give the same 403', async () => {
    const manager = await newMember(organization, ['ORG_USER_MANAGER'])
    const [own, foreign] = [await newHuman(organization), await newHuman(await newOrganization())]
    const change = (userId: string) => call('SetEmail', { userId, email: uniqueEmail(), returnCode: {} }, manager)
    ok(await change(own.userId))
    const refused = await change(foreign.userId)
    expect(factsOf(refused)).toMatchObject({ code: 7, reason: 'PERMISSION_DENIED' })
    expect((await change('unknown')).error).toEqual(refused.error)
  })

  test('nobody sets the address of a more powerful user, there or on the instance, or gets its code', async () => {
    const manager = await newMember(organization, ['ORG_USER_MANAGER'])
    const owner = await newMember(organization, ['ORG_OWNER'])
    const [viewer, user] = [await newMember(organization, ['ORG_OWNER_VIEWER']), await newHuman(organization)]
    const elsewhere = await newHuman(organization)
    const abroad = admin(await newOrganization())
    ok(await call('AddOrganizationMember', { userId: elsewhere.userId, roles: ['ORG_OWNER'] }, abroad))
    const may = async (caller: { token: string }, userId: string) => {
      const reasons: (string | undefined)[] = []
      for (const choice of Object.values(choices))
        reasons.push(factsOf(await call('SetEmail', { userId, email: uniqueEmail(), ...choice }, caller)).reason)
      ok(await call('SetEmail', { userId, email: uniqueEmail(), returnCode: {} }, admin()))
      reasons.push(factsOf(await call('ResendEmailCode', { userId, returnCode: {} }, caller)).reason)
      const withTemplate = { userId, ...choices['sendCode with a template'] }
      reasons.push(factsOf(await call('ResendEmailCode', withTemplate, caller)).reason?.replace('CODE_THROTTLED', 'ok'))
      return [...new Set(reasons.map((reason) => reason ?? 'ok'))]
    }
    for (const { userId } of [user, elsewhere, manager]) expect(await may(manager, userId)).toEqual(['ok'])
    for (const { userId } of [manager, owner, viewer]) expect(await may(owner, userId)).toEqual(['ok'])
    // Each mail under way adds one more event.
    const show = () => Promise.all([owner, viewer].map(async ({ userId }) => (await getUser(userId)).human))
    const before = await show()
    for (const { userId } of [owner, viewer])
      for (const choice of Object.values(choices)) {
        const refused = await call('SetEmail', { userId, email: uniqueEmail(), ...choice }, manager)
        expect(factsOf(refused)).toMatchObject({ code: 7, reason: 'PERMISSION_DENIED' })
      }
    expect(await show()).toEqual(before)
    for (const { userId } of [owner, viewer]) expect(await may(manager, userId)).toEqual(['PERMISSION_DENIED'])
  })

  test('an owner of the organization cannot change the address of an owner of the instance', async () => {
    const owner = await newMember('default', ['ORG_OWNER'])
    const before = await getUser('admin')
    const set = (userId: string) => call('SetEmail', { userId, email: uniqueEmail(), returnCode: {} }, owner)
    const refused = await set('admin')
    expect(factsOf(refused)).toMatchObject({ code: 7, reason: 'PERMISSION_DENIED' })
    expect(await getUser('admin')).toEqual(before)
    // The same error as without any permission.
    expect((await set((await newHuman(organization)).userId)).error).toEqual(refused.error)
  })

  test('a machine has no address: NOT_FOUND, like an unknown user, for a caller with the permission', async () => {
    const refused = await set(await newMachine(organization), uniqueEmail())
    expect(factsOf(refused)).toMatchObject({ code: 5, reason: 'USER_NOT_FOUND' })
    expect((await set('unknown', uniqueEmail())).error).toEqual(refused.error)
  })
})
