import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
import type { RosterError } from '#lib/errors'
import { anonymous } from '#lib/rpc/caller'
import { MailKind } from '#gen/roster/users/v1/internal_service'
import type { CreateInviteCodeRequest } from '#gen/roster/users/v1/user_service'
import type { User } from '../../directory/events/user.ts'
import { addHumanUser } from '../../directory/operations/user/add-human-user.ts'
import { createInviteCode } from '../../directory/operations/user/create-invite-code.ts'
import { resendEmailCode } from '../../directory/operations/user/resend-email-code.ts'
import { setPassword } from '../../directory/operations/password/set-password.ts'
import { getEmailCode } from '../../internal/mails/get-email-code.ts'
import { callIn, openUsers, serveDomains, type TestUsers } from '../../testing/test-users.ts'
import { passwordReset } from './password-reset.ts'
import { mailCode } from './request-password-reset.ts'
import { resendMail } from './resend-mail.ts'

let database: TestDatabase
let users: TestUsers
let grants: { stop(): Promise<void> }

beforeAll(async () => {
  database = await createDatabase()
  users = await openUsers(database.urls.users, { PUBLIC_URL: 'https://id.example.com' })
  grants = await serveDomains({}, { manager: ['IAM_USER_MANAGER'], chief: ['IAM_OWNER'] })
})
afterAll(async () => {
  await grants?.stop()
  await users?.stop()
  await database?.drop()
})

const as = (userId: string, role: string) => ({
  ...callIn('acme'),
  caller: { ...anonymous, userId, instanceRoles: [role] },
})
const manager = () => as('manager', 'IAM_USER_MANAGER')

async function newHuman(userId: string = randomUUID(), isVerified = true) {
  const profile = { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 as const }
  const verification = { $case: 'isVerified' as const, value: isVerified }
  const email = { email: `${randomUUID()}@example.com`, verification }
  await addHumanUser.handle(users, { userId, userName: userId, profile, email }, as('chief', 'IAM_OWNER'))
  return userId
}

/** The mail with a code for a new password that waits, and its link. */
async function waiting(userId: string) {
  const [row] = await users.sql<{ mail_id: string }[]>`
    select mail_id from unsent_mails where user_id = ${userId} and kind = 'password-reset'
    order by requested_at desc limit 1
  `
  const mailId = row!.mail_id
  const kind = MailKind.MAIL_KIND_PASSWORD_RESET
  const { code } = await getEmailCode(users, { userId, codeId: mailId, kind, mails: [] })
  return { mailId, code: code!.code, url: code!.url }
}

/** The id of the new mail, or why there is none. */
const resend = (userId: string, mailId: string, call = manager()) =>
  resendMail(users, { userId, mailId }, call).then(
    (sent) => sent.mailId,
    ({ reason }: RosterError) => reason,
  )

async function later(seconds: number, act: () => Promise<void>): Promise<void> {
  try {
    await shiftClock(users.sql, `${seconds} seconds`)
    await act()
  } finally {
    await shiftClock(users.sql, '0 seconds')
  }
}

test('a code for a new password is mailed again within its limits, with its link, until there is a new password', async () => {
  const userId = await newHuman()
  const urlTemplate = 'https://app.example.com/reset?code={{.Code}}'
  await passwordReset.handle(users, { userId, medium: { $case: 'sendLink', value: { urlTemplate } } }, manager())
  const first = await waiting(userId)
  expect(await resend(userId, first.mailId)).toBe('CODE_THROTTLED')
  await later(61, async () => {
    const sent = await resend(userId, first.mailId)
    const second = await waiting(userId)
    expect(second.mailId).toBe(sent)
    expect(second.code).not.toBe(first.code)
    expect(second.url).toContain('https://app.example.com/reset?')
    expect(await resend(userId, first.mailId)).toBe('MAIL_NOT_RESENDABLE')
    const newPassword = { password: `Password-${randomUUID()}`, changeRequired: false }
    await setPassword.handle(users, { userId, newPassword, verification: undefined }, manager())
    expect(await resend(userId, second.mailId)).toBe('MAIL_NOT_RESENDABLE')
  })
})

test('the code of a person who forgot the password inside a sign-in leads to the page that any sign-in knows', async () => {
  const userId = await newHuman()
  const asked = { codeId: randomUUID(), urlTemplate: 'https://id.example.com/ui/login/x/reset#code={{.Code}}' }
  await mailCode(users, userId, { ...callIn('acme'), clientAddress: randomUUID(), caller: anonymous }, asked)
  const { mailId } = await waiting(userId)
  expect(mailId).toBe(asked.codeId)
  await later(61, async () => {
    const sent = await resend(userId, mailId)
    expect(await waiting(userId)).toMatchObject({
      mailId: sent,
      url: expect.stringMatching(/^https:\/\/id\.example\.com\/ui\/reset-password/),
    })
  })
})

test('the link of a caller comes again where that caller asks for it; of another one the mail leads to a page of Roster', async () => {
  const userId = await newHuman()
  const urlTemplate = 'https://app.example.com/reset?code={{.Code}}'
  const other = as('other', 'IAM_OWNER')
  await passwordReset.handle(users, { userId, medium: { $case: 'sendLink', value: { urlTemplate } } }, manager())
  await later(61, async () => {
    expect(await resend(userId, (await waiting(userId)).mailId, other)).not.toBe('PERMISSION_DENIED')
    const { url } = await waiting(userId)
    expect(url).toMatch(/^https:\/\/id\.example\.com\/ui\/reset-password/)
  })
})

test('the link of a code that proves an address, too', async () => {
  const userId = await newHuman(undefined, false)
  const urlTemplate = 'https://app.example.com/verify?code={{.Code}}'
  const codeOf = async () => (await users.store.load<User>('user', userId))!.state.human!.code!
  await later(61, async () => {
    const verification = { $case: 'sendCode' as const, value: { urlTemplate } }
    await resendEmailCode.handle(users, { userId, verification }, manager())
  })
  await later(122, async () => {
    const mailId = await resend(userId, (await codeOf()).codeId)
    expect(await codeOf()).toMatchObject({ codeId: mailId, urlTemplate })
  })
  await later(183, async () => {
    const mailId = await resend(userId, (await codeOf()).codeId, as('other', 'IAM_OWNER'))
    const { codeId, urlTemplate: link } = await codeOf()
    expect([codeId, link]).toEqual([mailId, undefined])
  })
})

test('the invitation of a user without a password is mailed again within its limits, but not one that was returned', async () => {
  const userId = await newHuman()
  const invited = async () => (await users.store.load<User>('user', userId))!.state.human!.invite!.codeId
  const invite = (verification: CreateInviteCodeRequest['verification']) =>
    createInviteCode.handle(users, { userId, verification }, manager())
  await invite({ $case: 'sendCode', value: {} })
  let mailId = await invited()
  for (let time = 1; time <= 3; time++) {
    const sent = await resend(userId, mailId)
    expect(sent).toBe(await invited())
    expect(await resend(userId, mailId)).toBe('MAIL_NOT_RESENDABLE')
    mailId = sent
  }
  expect(await resend(userId, mailId)).toBe('CODE_THROTTLED')
  await later(3601, async () => {
    await invite({ $case: 'returnCode', value: {} })
    expect(await resend(userId, await invited())).toBe('MAIL_NOT_RESENDABLE')
  })
})

test('a manager sends nothing to whom they may not send it by its own operation', async () => {
  const userId = await newHuman('chief')
  await passwordReset.handle(users, { userId, medium: undefined }, as('other', 'IAM_OWNER'))
  const { mailId } = await waiting(userId)
  await later(61, async () => {
    expect(await resend(userId, mailId)).toBe('PERMISSION_DENIED')
    await createInviteCode.handle(users, { userId, verification: undefined }, as('other', 'IAM_OWNER'))
    const invited = (await users.store.load<User>('user', userId))!.state.human!.invite!.codeId
    expect(await resend(userId, invited)).toBe('PERMISSION_DENIED')
    const sent = await resend(userId, mailId, as('other', 'IAM_OWNER'))
    expect((await waiting(userId)).mailId).toBe(sent)
  })
})
