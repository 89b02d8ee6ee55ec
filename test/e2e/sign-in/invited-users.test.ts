import { beforeAll, describe, expect, test } from 'vitest'
import { admin, getUser, newHuman, newMember, newOrganization, ok, unique, uniqueEmail } from '../../examples/people.ts'
import { formOf, openBrowser } from '../../examples/sign-in.ts'
import { factsOf } from '../clients/call.ts'
import { call, recordSecret } from '../clients/encodings.ts'
import { hasMailbox, mailCount, mailTo } from '../mailbox.ts'

let home: string
beforeAll(async () => {
  home = await newOrganization()
})

const act = async (name: string, request: object, caller = admin(home)) =>
  ok(await call(name as never, request as never, caller))
const reasonOf = async (name: string, request: object, caller = admin(home)) =>
  factsOf(await call(name as never, request as never, caller)).reason
const verify = (operation: 'VerifyEmail' | 'VerifyInviteCode', userId: string, verificationCode: string) =>
  reasonOf(operation, { userId, verificationCode }, {} as never)
const password = () => unique('Password')

/** A person without a password. */
const newGuest = (verification: object = { returnCode: {} }) => newHuman(home, { verification: verification as never })

/** A person without a password, and the returned code of the invitation. */
async function newInvited(caller = admin(home)) {
  const person = await newGuest()
  return { ...person, code: await inviteAgain(person.userId, caller) }
}

async function inviteAgain(userId: string, caller = admin(home)): Promise<string> {
  const { inviteCode } = await act('CreateInviteCode', { userId, returnCode: {} }, caller)
  recordSecret(inviteCode)
  return inviteCode
}

/** Opens the invitation in a browser, and presses the button. */
async function open(userId: string, code: string, browser = openBrowser()) {
  const page = await browser.visit(`/ui/invitation/${userId}`)
  return { browser, page: await browser.submit(page, { code }) }
}
const asks = ({ page }: { page: { body: string } }) => 'password' in (formOf(page.body)?.fields ?? {})
const signsIn = async (loginName: string, text: string) =>
  (await call('CreateSession', { loginName, password: text })).ok !== undefined

describe.skipIf(!hasMailbox())('with a mailbox', () => {
  test('AddHumanUser without a password mails an invitation: the person chooses a password, and is signed in', async () => {
    for (const verification of [{}, { sendCode: {} }]) {
      const { userId, userName, email } = await newGuest(verification)
      const mail = await mailTo(email)
      expect(mail.subject).toMatch(/^Your invitation to /)
      expect([new URL(mail.link).pathname, new URL(mail.link).hash]).toEqual([
        `/ui/invitation/${userId}`,
        `#code=${mail.code}`,
      ])
      const { browser, page } = await open(userId, mail.code)
      expect(page.body).toContain(email)
      expect(page.body).not.toContain('family_name')
      const chosen = password()
      const done = await browser.submit(page, { password: chosen })
      // Nothing names an application, so this is the own account.
      expect(done.body).toContain(email)
      expect((await browser.visit('/ui/account')).body).toContain(email)
      expect((await getUser(userId)).human.email).toEqual({ email, isVerified: true })
      expect(await signsIn(userName, chosen)).toBe(true)
      expect(asks(await open(userId, mail.code))).toBe(false)
      expect(await mailCount(email)).toBe(1)
    }
  })

  test('AddHumanUser with a password, or a urlTemplate, mails the code of the address alone', async () => {
    const [withPassword, own] = await Promise.all([
      newHuman(home, { verification: {}, password: password() }),
      newGuest({ sendCode: { urlTemplate: 'https://app.example.com/{{.UserID}}?code={{.Code}}' } }),
    ])
    for (const { userId, email } of [withPassword, own]) {
      const { subject, code } = await mailTo(email)
      expect(subject).toBe('Verify your email address')
      expect(await verify('VerifyInviteCode', userId, code)).toBe('CODE_INVALID')
      expect(await verify('VerifyEmail', userId, code)).toBeUndefined()
    }
  })

  test('VerifyEmail proves the address by the code of an invitation, and leaves the invitation open', async () => {
    const { userId, email } = await newGuest({})
    const { code } = await mailTo(email)
    expect(await verify('VerifyEmail', userId, code)).toBeUndefined()
    expect((await getUser(userId)).human.email.isVerified).toBe(true)
    expect(asks(await open(userId, code))).toBe(true)
    expect(await verify('VerifyInviteCode', userId, code)).toBeUndefined()
    expect(await verify('VerifyInviteCode', userId, code)).toBe('CODE_INVALID')
    expect(asks(await open(userId, code))).toBe(false)
  })

  test('a mailed code proves the address, and a mail that is sent again keeps the link and the name of the application', async () => {
    const { userId, email } = await newGuest()
    const sendCode = {
      urlTemplate: 'https://app.example.com/join?u={{.UserID}}&c={{.Code}}',
      applicationName: 'Timesheets',
    }
    await act('CreateInviteCode', { userId, sendCode })
    const first = await mailTo(email)
    await act('ResendInviteCode', { userId })
    const mail = await mailTo(email, 2)
    expect(mail.text).toContain('Timesheets')
    expect(mail.link).toBe(`https://app.example.com/join?u=${userId}&c=${mail.code}`)
    expect(await verify('VerifyInviteCode', userId, first.code)).toBe('CODE_INVALID')
    expect(await verify('VerifyInviteCode', userId, mail.code)).toBeUndefined()
    expect((await getUser(userId)).human.email).toEqual({ email, isVerified: true })
    expect(await reasonOf('ResendInviteCode', { userId })).toBe('NOT_INVITED')
  })
})

test('a returned code is used up by VerifyInviteCode, or by choosing a password, and proves no address', async () => {
  const [one, other] = [await newInvited(), await newInvited()]
  expect(await verify('VerifyInviteCode', one.userId, one.code)).toBeUndefined()
  for (const operation of ['VerifyInviteCode', 'VerifyEmail'] as const)
    expect(await verify(operation, one.userId, one.code)).toBe('CODE_INVALID')
  const { browser, page } = await open(other.userId, other.code)
  await browser.submit(page, { password: password() })
  expect(await verify('VerifyInviteCode', other.userId, other.code)).toBe('CODE_INVALID')
  for (const { userId, email } of [one, other]) expect((await getUser(userId)).human.email).toEqual({ email })
})

test('of two browsers that open an invitation, one chooses the password', async () => {
  const { userId, userName, code } = await newInvited()
  const [first, second] = await Promise.all([open(userId, code), open(userId, code)])
  const texts = [password(), password()]
  await Promise.all([
    first.browser.submit(first.page, { password: texts[0]! }),
    second.browser.submit(second.page, { password: texts[1]! }),
  ])
  const works = await Promise.all(texts.map((text) => signsIn(userName, text)))
  expect(works.filter(Boolean)).toHaveLength(1)
})

describe('a code is dead', () => {
  const isDead = async ({ userId, code }: { userId: string; code: string }) =>
    (await verify('VerifyInviteCode', userId, code)) === 'CODE_INVALID' && !asks(await open(userId, code))

  test('once another one was made, also for who has opened it', async () => {
    const invited = await newInvited()
    const opened = await open(invited.userId, invited.code)
    const code = await inviteAgain(invited.userId)
    expect(await isDead(invited)).toBe(true)
    const late = await opened.browser.submit(opened.page, { password: password() })
    expect(late.body).toContain('This link has expired')
    expect(asks(await open(invited.userId, code))).toBe(true)
  })

  test('after five wrong ones, at every door together', async () => {
    const invited = await newInvited()
    for (let n = 0; n < 3; n++) await verify('VerifyInviteCode', invited.userId, 'AAAAAA')
    await verify('VerifyEmail', invited.userId, 'AAAAAA')
    await open(invited.userId, 'AAAAAA')
    expect(await isDead(invited)).toBe(true)
  })

  test('once a password is set, the address changes, or the user is locked or removed', async () => {
    const [a, b, c, d] = [await newInvited(), await newInvited(), await newInvited(), await newInvited()]
    await act('SetPassword', { userId: a.userId, newPassword: { password: password() } })
    await act('SetEmail', { userId: b.userId, email: uniqueEmail(), isVerified: true })
    await act('DeleteUser', { userId: c.userId })
    await act('LockUser', { userId: d.userId })
    for (const invited of [a, b, c, d]) expect(await isDead(invited)).toBe(true)
    expect(await reasonOf('CreateInviteCode', { userId: a.userId })).toBe('PASSWORD_SET')
    expect(await reasonOf('CreateInviteCode', { userId: d.userId })).toBe('USER_NOT_ACTIVE')
  })

  test('once the person has more roles than who invites', async () => {
    const manager = { token: (await newMember(home, ['ORG_USER_MANAGER'])).token, organization: home }
    const invited = await newInvited(manager)
    await act('AddOrganizationMember', { userId: invited.userId, roles: ['ORG_OWNER'] })
    expect(await isDead(invited)).toBe(true)
    for (const operation of ['CreateInviteCode', 'ResendInviteCode'])
      expect(await reasonOf(operation, { userId: invited.userId }, manager)).toBe('PERMISSION_DENIED')
  })
})

test('an invitation is made again three times an hour', async () => {
  const { userId } = await newInvited()
  for (let n = 0; n < 3; n++) await inviteAgain(userId)
  expect(await reasonOf('CreateInviteCode', { userId, returnCode: {} })).toBe('CODE_THROTTLED')
})
