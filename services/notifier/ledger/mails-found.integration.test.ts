import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { MailState } from '#gen/roster/notifier/v1/mail_service'
import { callerOf, newAddress, openHouse, type TestHouse } from '../testing/test-house.ts'

let house: TestHouse

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
  await house.startNotifier({ SWEEP_INTERVAL: '1' })
  await house.webhooksAnswer()
})
afterAll(() => house.stop())

const soon = { timeout: 40_000, interval: 50 }
const lasting = (code: number) => Array.from({ length: 50 }, () => ({ at: 'RCPT TO' as const, code }))

describe('a mail is found by its user, with', () => {
  const only = async (userId: string) => (await house.mails({ userId }))[0]

  test('the reply of the mail server that took it', async () => {
    const { userId, email } = await house.addHuman()
    await expect
      .poll(() => only(userId), soon)
      .toMatchObject({
        state: MailState.MAIL_STATE_ACCEPTED,
        kind: 'invitation',
        organizationId: 'default',
        attempts: 1,
        reply: expect.stringMatching(/^250 /),
        error: '',
      })
    expect(house.mail.mailsTo(email)).toHaveLength(1)
  })

  test('the reply that defers it, and when it is tried again', async () => {
    const email = newAddress()
    house.mail.answer(email, ...lasting(451))
    const { userId } = await house.addHuman({}, email)
    await expect
      .poll(() => only(userId), soon)
      .toMatchObject({
        state: MailState.MAIL_STATE_DEFERRED,
        reply: '451 4.1.1 <[hidden]> not now',
        error: 'SMTP 451 4.1.1: the mail server refused the address.',
        nextAttemptDate: expect.any(Date),
      })
    const { nextAttemptDate, changeDate, mailId } = (await only(userId))!
    expect(nextAttemptDate!.getTime() - changeDate!.getTime()).toBeLessThan(61_000)
    expect((await house.mails({ state: MailState.MAIL_STATE_DEFERRED })).map((mail) => mail.mailId)).toContain(mailId)
    expect((await house.mails({ state: MailState.MAIL_STATE_QUEUED })).map((mail) => mail.mailId)).not.toContain(mailId)
    house.mail.answer(email)
    await expect.poll(() => only(userId), soon).toMatchObject({ state: MailState.MAIL_STATE_ACCEPTED, error: '' })
  })

  test('the reply that refuses it', async () => {
    const email = newAddress()
    house.mail.answer(email, { at: 'DATA', code: 554 })
    const { userId } = await house.addHuman({}, email)
    await expect
      .poll(() => only(userId), soon)
      .toMatchObject({
        state: MailState.MAIL_STATE_REFUSED,
        reply: '554 5.1.1 <[hidden]> not now',
        error: 'SMTP 554 5.1.1: the mail server refused the mail.',
        nextAttemptDate: undefined,
      })
  })

  test('what it was for, also where its event does not say it', async () => {
    const { userId, email } = await house.addHuman()
    await expect.poll(() => house.mail.mailsTo(email), soon).toHaveLength(1)
    await house.verifyEmail(userId, /code=([A-Z0-9]+)/.exec(house.mail.mailsTo(email)[0]!.text!)![1]!)
    await house.setEmail(userId, newAddress(), { ...callerOf('ORG_OWNER'), userId })
    const kinds = async () => (await house.mails({ userId })).map(({ kind }) => kind).toSorted()
    await expect.poll(kinds, soon).toEqual(['email-changed-take-back', 'email-code', 'invitation'])
  })

  test('nothing of a reply that repeats the name, the address, the code or the link, which no table and no log has', async () => {
    const email = `giraffe.${newAddress()}`
    let code = ''
    house.mail.reply(email, (mail) => {
      code = /code=([A-Z0-9]+)/.exec(mail)![1]!
      const link = /https:\S+/.exec(mail)![0]
      return `2.0.0 Ok Gigi Giraffe ${email.toUpperCase()} (gigi) ${code} ${link} is served`
    })
    const { userId } = await house.addHuman({ firstName: 'Gigi', lastName: 'Giraffe' }, email)
    // The event of its end may be read before.
    await expect
      .poll(async () => (await only(userId))?.reply, soon)
      .toMatch(/^250 2\.0\.0 Ok (\[hidden\] ?|\(\[hidden\]\) ?)+ is served$/)
    const rows = JSON.stringify(await house.ledger`select * from deliveries`)
    for (const secret of [code, email, 'Giraffe']) {
      expect(rows.toLowerCase()).not.toContain(secret.toLowerCase())
      expect(house.logged()).not.toContain(secret)
    }
  })
})

test('another organization finds none of the mails', async () => {
  const { userId } = await house.addHuman()
  await expect.poll(() => house.mails({ userId }), soon).toHaveLength(1)
  expect(await house.mails({ userId }, 'another')).toEqual([])
  expect(await house.mails({}, 'another')).toEqual([])
})
