import { beforeAll, describe, expect, test } from 'vitest'
import { admin, type ExampleHuman, getUser, newHuman, newOrganization, ok, uniqueEmail } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { over } from '../clients/encodings.ts'
import { hasMailbox, mailCount, mailTo } from '../mailbox.ts'

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
})
