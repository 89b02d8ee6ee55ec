import { beforeAll, describe, expect, test } from 'vitest'
import { addressesFollowed } from '../../examples/followed-addresses.ts'
import {
  admin,
  type ExampleHuman,
  newHuman,
  newMember,
  newOrganization,
  ok,
  profile,
  signIn,
  unique,
  uniqueEmail,
} from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { call as json, over } from '../clients/encodings.ts'
import { hasMailbox, mailCount, mailTo } from '../mailbox.ts'

let home: string
let abroad: string
/** Manages the users of `abroad` alone. */
let manager: string
const mailbox = hasMailbox() ? '' : ' (skipped: ROSTER_E2E_MAILBOX_URL is not set)'

beforeAll(async () => {
  ;[home, abroad] = await Promise.all([newOrganization(), newOrganization()])
  manager = (await newMember(abroad, ['ORG_USER_MANAGER'])).token
})

const person = (organization: string, email: string, verification = {}) =>
  newHuman(organization, { email, password: unique('Password'), ...verification })
const unverified = { verification: { isVerified: false } }

/** A human whom the manager adds. */
async function managed(email: string, verification: object): Promise<ExampleHuman> {
  const [userName, password] = [unique('human'), unique('Password')]
  const request = { userName, password, profile, email: { email, ...verification } }
  const { userId, emailCode } = ok(await json('AddHumanUser', request, { token: manager }))
  return { userId, userName, email, password, organization: abroad, emailCode }
}

describe.each(over('connect'))('an address as a login name over $encoding', ({ call }) => {
  const signInAs = async (loginName: string, { password }: ExampleHuman, organization?: string) =>
    factsOf(await call('CreateSession', { loginName, password }, { organization })).reason ?? 'in'

  test('means the person who first proved it, in any case, also where others have it or are named so', async () => {
    const email = uniqueEmail()
    const first = await person(home, email)
    const second = await person(abroad, email)
    const named = await newHuman(abroad, { userName: email, password: unique('Password') })
    await addressesFollowed(home)
    expect(await signInAs(email.toUpperCase(), first)).toBe('in')
    expect(await signInAs(email, second, abroad)).toBe('in')
    expect(await signInAs(email, second)).toBe('CREDENTIALS_INVALID')
    expect(await signInAs(email, named)).toBe('CREDENTIALS_INVALID')
    expect(await signInAs(email, named, abroad)).toBe('CREDENTIALS_INVALID')
    ok(await call('DeleteUser', { userId: first.userId }, admin(home)))
    expect(await signInAs(email, second)).toBe('in')
  })

  test('stays with its person after a change, until the new address is proved', async () => {
    const [email, next] = [uniqueEmail(), uniqueEmail()]
    const human = await person(home, email)
    ok(await call('SetEmail', { userId: human.userId, email: next, isVerified: false }, admin(home)))
    await addressesFollowed(home)
    expect(await signInAs(next, human)).toBe('CREDENTIALS_INVALID')
    expect(await signInAs(email, human)).toBe('in')
    ok(await call('SetEmail', { userId: human.userId, email: next, isVerified: true }, admin(home)))
    await addressesFollowed(home)
    expect(await signInAs(next, human)).toBe('in')
    expect(await signInAs(email, human)).toBe('CREDENTIALS_INVALID')
  })

  test('means, by the word of a manager or a code that the manager got, somebody in the organization alone', async () => {
    const [worded, coded] = [
      await managed(uniqueEmail(), { isVerified: true }),
      await managed(uniqueEmail(), { returnCode: {} }),
    ]
    ok(await call('VerifyEmail', { userId: coded.userId, verificationCode: coded.emailCode! }))
    await addressesFollowed(home)
    for (const human of [worded, coded]) {
      expect(await signInAs(human.email, human, abroad)).toBe('in')
      expect(await signInAs(human.email, human)).toBe('CREDENTIALS_INVALID')
    }
    const token = await signIn(worded)
    const claims = async () => ok(await json('GetUserInfo', {}, { token }))
    expect(await claims()).not.toMatchObject({ emailVerified: true })
    // Somebody whose word counts everywhere says it again. It is nothing new the next time.
    const confirm = async () =>
      ok(await call('SetEmail', { userId: worded.userId, email: worded.email, isVerified: true }, admin(abroad)))
    const { details } = await confirm()
    await addressesFollowed(home)
    expect(await signInAs(worded.email, worded)).toBe('in')
    expect(await claims()).toMatchObject({ emailVerified: true })
    expect((await confirm()).details.sequence).toBe(details.sequence)
  })

  test('means somebody everywhere by the word of a manager whose organization has the domain', async () => {
    const domain = `${unique('domain')}.example`
    const add = (name: string) => managed(`${name}@${domain}`, { isVerified: true })
    const before = await add('before')
    ok(await call('SetPrimaryDomain', { domain }, admin(abroad)))
    const after = await add('after')
    await addressesFollowed(home)
    expect(await signInAs(after.email, after)).toBe('in')
    expect(await signInAs(before.email, before)).toBe('CREDENTIALS_INVALID')
    expect(await signInAs(`${after.userName}@${domain}`, after)).toBe('in')
  })

  test.skipIf(!hasMailbox())(
    `is proved by the mailed code, also where a manager verified it, and recovers the account${mailbox}`,
    async () => {
      const own = await person(home, uniqueEmail(), unverified)
      const worded = await managed(uniqueEmail(), { isVerified: true })
      ok(await call('ResendEmailCode', { userId: worded.userId }, { token: manager }))
      for (const human of [own, worded]) {
        const { code } = await mailTo(human.email)
        expect(await signInAs(human.email, human)).toBe('CREDENTIALS_INVALID')
        ok(await call('VerifyEmail', { userId: human.userId, verificationCode: code }))
        await addressesFollowed(home)
        expect(await signInAs(human.email, human)).toBe('in')
      }
      ok(await call('RequestPasswordReset', { loginName: own.email }))
      await mailTo(own.email, 2)
      expect(await mailCount(worded.email)).toBe(1)
    },
  )
})
