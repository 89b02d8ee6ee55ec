import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MailState } from '#gen/roster/notifier/v1/mail_service'
import type { RosterError } from '#lib/errors'
import { openHouse, type TestHouse } from '../testing/test-house.ts'

let house: TestHouse

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
  await house.startNotifier({ SWEEP_INTERVAL: '1' })
  await house.webhooksAnswer()
})
afterAll(() => house.stop())

const soon = { timeout: 40_000, interval: 50 }
const only = async (userId: string) => (await house.mails({ userId }))[0]
const inState = (userId: string, state: MailState) => expect.poll(() => only(userId), soon).toMatchObject({ state })

const bounceOf = (mailId: string, reason = '550 5.1.1 no such user') => [
  { event: 'bounce', 'smtp-id': `<${mailId}@id.example.com>`, email: 'gigi@example.org', status: '5.1.1', reason },
]

async function accepted(): Promise<{ userId: string; mailId: string }> {
  const { userId } = await house.addHuman()
  await inState(userId, MailState.MAIL_STATE_ACCEPTED)
  return { userId, mailId: (await only(userId))!.mailId }
}

test('a mail of which a provider says that it bounced is found as such, with the reason, and once', async () => {
  const [{ userId, mailId }, other] = [await accepted(), await accepted()]
  await house.report(bounceOf(mailId))
  const bounced = {
    state: MailState.MAIL_STATE_BOUNCED,
    bounceStatus: '5.1.1',
    bounceReason: 'bounce: 550 5.1.1 no such user',
    bounceDate: expect.any(Date),
    reply: expect.stringMatching(/^250 /),
  }
  expect(await only(userId)).toMatchObject(bounced)
  await house.report(bounceOf(mailId, 'another reason'))
  expect(await only(userId)).toMatchObject(bounced)
  expect(house.logged().split('a mail bounced')).toHaveLength(2)
  const found = async (state: MailState) => (await house.mails({ state })).map((mail) => mail.mailId)
  expect(await found(MailState.MAIL_STATE_BOUNCED)).toEqual([mailId])
  expect(await found(MailState.MAIL_STATE_ACCEPTED)).toEqual([other.mailId])
  expect(await only(other.userId)).toMatchObject({ bounceStatus: '', bounceReason: '', bounceDate: undefined })
})

test('a bounce that is known before the mail itself is not lost', async () => {
  const mailId = randomUUID()
  await house.report(bounceOf(mailId))
  const userId = randomUUID()
  const mail = { code_id: mailId, organization_id: 'default', user_id: userId, mail_kind: 'email-code', tries: 1 }
  const report = { ...mail, of_recorded: false, expires_at: new Date(Date.now() + 60_000).toISOString() }
  const note = (own: object) => house.ledger`
    select report_mails(${JSON.stringify([{ ...report, ...own }])}::text::jsonb)
  `
  await note({ state: 'queued' })
  expect(await only(userId)).toMatchObject({ state: MailState.MAIL_STATE_BOUNCED, bounceStatus: '5.1.1' })
  await note({ state: 'sent', error: '', reply: '250 2.0.0 Ok' })
  expect(await only(userId)).toMatchObject({ state: MailState.MAIL_STATE_BOUNCED, reply: '250 2.0.0 Ok' })
})

test('a mail that the mail server refused stays refused, whatever is reported of it', async () => {
  const email = `${randomUUID()}@example.com`
  house.mail.answer(email, { at: 'DATA', code: 554 })
  const { userId } = await house.addHuman({}, email)
  await inState(userId, MailState.MAIL_STATE_REFUSED)
  await house.report(bounceOf((await only(userId))!.mailId))
  expect(await only(userId)).toMatchObject({ state: MailState.MAIL_STATE_REFUSED, bounceReason: '' })
})

describe('a report', () => {
  test.each([
    ['no JSON', Buffer.from('{')],
    ['no UTF-8', Buffer.from([0x22, 0xff, 0x22])],
    ['of nobody known', Buffer.from('{"hello":"world"}')],
  ])('that is %s is refused by a clear word', async (_, body) => {
    const error = await house.report(body).catch((thrown: RosterError) => thrown)
    expect(error).toMatchObject({ reason: 'REQUEST_MALFORMED', message: expect.stringContaining('Postmark, SendGrid') })
  })

  test('of Amazon SNS that wants to be confirmed is in the log for the operator', async () => {
    const SubscribeURL = 'https://sns.eu-central-1.amazonaws.com/?Action=ConfirmSubscription&Token=t'
    await house.report({ Type: 'SubscriptionConfirmation', TopicArn: 'arn:aws:sns:x', SubscribeURL })
    expect(house.logged()).toContain(SubscribeURL)
  })

  test('about a mail that is not known, or none, is taken', async () => {
    await house.report(bounceOf(randomUUID()))
    await house.report([{ event: 'bounce', 'smtp-id': '<x@y>' }])
    await house.report([{ event: 'delivered', 'smtp-id': '<x@y>' }])
  })
})
