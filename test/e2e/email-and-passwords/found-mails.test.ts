import { expect, test } from 'vitest'
import { admin, newHuman, newOrganization, ok, uniqueEmail } from '../../examples/people.ts'
import { factsOf } from '../clients/call.ts'
import { call } from '../clients/encodings.ts'
import { hasMailbox, mailTo } from '../mailbox.ts'

const mailbox = hasMailbox() ? '' : ' (skipped: ROSTER_E2E_MAILBOX_URL is not set)'

interface Mail {
  mailId: string
  userId: string
  state: string
  kind: string
  reply: string
}

const search = async (organization: string, request: object): Promise<Mail[]> =>
  ok(await call('SearchMails', { ...request }, admin(organization))).mails ?? []
/** Waits for the one mail that the mail server took. Its state may be known a moment before the reply and the kind. */
async function accepted(organization: string, userId: string): Promise<Mail> {
  const found = async () =>
    (await search(organization, { userId, state: 'MAIL_STATE_ACCEPTED' })).filter(({ reply }) => Boolean(reply))
  await expect.poll(found, { timeout: 20_000 }).toHaveLength(1)
  return (await found())[0]!
}
const resend = ({ userId, mailId }: Mail, organization: string) =>
  call('ResendMail', { userId, mailId }, admin(organization))

test.skipIf(!hasMailbox())(
  `what the mail server answered to a mail is found by its user, in the own organization alone${mailbox}`,
  async () => {
    const [home, another] = [await newOrganization(), await newOrganization()]
    const { userId } = await newHuman(home, { email: uniqueEmail(), verification: { sendCode: {} } })
    const mail = await accepted(home, userId)
    expect(mail).toMatchObject({ kind: 'invitation', userId })
    expect(mail.reply).toMatch(/^250 /)
    const { mailId } = mail
    expect(ok(await call('GetMail', { mailId }, admin(home))).mail).toEqual(mail)
    expect(await search(home, { userIds: ['nobody', userId] })).toEqual([mail])
    expect(await search(home, { userIds: ['nobody'] })).toEqual([])
    expect(await search(another, { userId })).toEqual([])
    expect(factsOf(await call('GetMail', { mailId }, admin(another))).reason).toBe('MAIL_NOT_FOUND')
  },
)

test.skipIf(!hasMailbox())(
  `a mail is sent again with a new code and its own link, as often as its kind may be, until its code is used or replaced${mailbox}`,
  async () => {
    const [home, another] = [await newOrganization(), await newOrganization()]
    const urlTemplate = 'https://app.example.com/verify?u={{.UserID}}&code={{.Code}}'
    const { userId, email } = await newHuman(home, { verification: { sendCode: { urlTemplate } } })
    const first = await accepted(home, userId)
    const { code: former } = await mailTo(email)
    expect(factsOf(await resend(first, another)).reason).toBe('USER_NOT_FOUND')
    const { mailId: sent } = ok(await resend(first, home))
    const { code, link } = await mailTo(email, 2)
    expect(link).toContain('https://app.example.com/verify')
    expect(factsOf(await resend(first, home))).toMatchObject({ code: 9, reason: 'MAIL_NOT_RESENDABLE' })
    const second = (await search(home, { userId })).find(({ mailId }) => mailId !== first.mailId)!
    expect(second.mailId).toBe(sent)
    expect(factsOf(await resend(second, home)).reason).toBe('CODE_THROTTLED')
    const verify = (verificationCode: string) => call('VerifyEmail', { userId, verificationCode })
    expect(factsOf(await verify(former)).reason).toBe('CODE_INVALID')
    ok(await verify(code))
    expect(factsOf(await resend(second, home)).reason).toBe('MAIL_NOT_RESENDABLE')
  },
)

test.skipIf(!hasMailbox())(
  `the mail of an invitation is sent again with another link while it is open${mailbox}`,
  async () => {
    const home = await newOrganization()
    const { invitationId } = ok(await call('AddInvitation', { email: uniqueEmail() }, admin(home)))
    const first = await accepted(home, invitationId)
    expect(first.kind).toBe('invitation')
    const { mailId: sent } = ok(await resend(first, home))
    await expect.poll(() => search(home, { userId: invitationId }), { timeout: 20_000 }).toHaveLength(2)
    expect(factsOf(await resend(first, home)).reason).toBe('MAIL_NOT_RESENDABLE')
    const newest = (await search(home, { userId: invitationId }))[0]!
    expect(newest.mailId).toBe(sent)
    ok(await call('RevokeInvitation', { invitationId }, admin(home)))
    expect(factsOf(await resend(newest, home)).reason).toBe('MAIL_NOT_RESENDABLE')
  },
)
