import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { newAddress, openHouse, type TestHouse } from '../testing/test-house.ts'

let house: TestHouse

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
  await house.startNotifier()
})
afterAll(() => house.stop())

const soon = { timeout: 20_000, interval: 20 }

// A code is settled once its end is recorded and its job is gone: then nothing can mail it again.
async function settled(userId: string, events: string[]) {
  await vi.waitFor(async () => {
    expect(await house.codeEvents(userId)).toEqual(events)
    expect(await house.jobs()).toEqual([])
  }, soon)
}

describe('a code', () => {
  it('is mailed once, in text and HTML, from us, marked so that no machine answers', async () => {
    const { userId, email } = await house.addHuman()
    await settled(userId, ['requested', 'sent'])
    const [mail, ...others] = house.mail.mailsTo(email)
    expect(others).toEqual([])
    const code = /^ {4}([2-9A-HJ-NP-Z]{6})$/m.exec(mail!.text!)![1]!
    const url = `https://id.example.com/ui/invitation/${userId}?organization_id=default#code=${code}`
    expect(mail!.text).toContain(`\n${url}\n`)
    expect(mail!.text).toContain('Hello Gigi Giraffe,')
    expect(mail!.html).toContain(code)
    expect(mail!.from).toEqual({ name: 'Roster', address: 'no-reply@id.example.com' })
    expect(mail!.to).toEqual([{ name: '', address: email }])
    expect(mail!.headers).toContainEqual(expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }))
    expect(mail!.messageId).toMatch(/^<[0-9a-f-]{36}@id\.example\.com>$/)
  })

  it('is recorded as mailed because of the event that asked for it', async () => {
    const { userId } = await house.addHuman()
    await settled(userId, ['requested', 'sent'])
    const { 'user.email.code.requested': requested, 'user.email.code.sent': sent } = await house.causes(userId)
    expect(requested!.cause).toBeNull()
    expect(sent!.cause).toBe(requested!.id)
  })

  it("is mailed in the user's language: German for de-AT", async () => {
    const { userId, email } = await house.addHuman({ preferredLanguage: 'de-AT' })
    await settled(userId, ['requested', 'sent'])
    const [mail] = house.mail.mailsTo(email)
    expect(mail!.subject).toBe('Ihre Einladung zu id.example.com')
    expect(mail!.text).toContain('7 Tage')
    expect(mail!.html).toContain('lang="de"')
  })

  it('is mailed with the name escaped', async () => {
    const { userId, email } = await house.addHuman({ displayName: `Conan "O'Brien" & Co` })
    await settled(userId, ['requested', 'sent'])
    const [mail] = house.mail.mailsTo(email)
    expect(mail!.text).toContain(`Hello Conan "O'Brien" & Co,`)
    expect(mail!.html).toContain('Hello Conan &quot;O&#39;Brien&quot; &amp; Co,')
  })

  it('is mailed once even by two notifiers', async () => {
    await house.startNotifier()
    const humans = await Promise.all(Array.from({ length: 30 }, () => house.addHuman()))
    for (const { userId, email } of humans) {
      await settled(userId, ['requested', 'sent'])
      expect(house.mail.mailsTo(email)).toHaveLength(1)
    }
  })

  it('is never mailed after another code superseded it', async () => {
    const email = newAddress()
    house.mail.answer(email, { at: 'RCPT TO', code: 451 })
    const { userId } = await house.addHuman({}, email)
    await vi.waitFor(() => expect(house.mail.triesFor(email)).toBe(1), soon)
    const later = newAddress()
    await house.setEmail(userId, later)
    await settled(userId, ['requested', 'requested', 'sent'])
    expect(house.mail.mailsTo(email)).toEqual([])
    expect(house.mail.mailsTo(later)).toHaveLength(1)
  })
})

it('the mail of a registration is taken up as soon as it is announced, without a sweep', async () => {
  const [userId, codeId] = ['request-without-registration', randomUUID()]
  const mail = { userId, codeId, organizationId: 'default', expiresAt: new Date(Date.now() + 60_000).toISOString() }
  house.announce({ ...mail, codeId: 7 as never })
  house.announce(mail)
  // Users knows no such registration.
  await vi.waitFor(() => expect(house.logged()).toMatch(new RegExp(`"${codeId}".*"end":"nothing"`)), soon)
})

describe('a mail server', () => {
  it.each(['RCPT TO', 'DATA'] as const)('that says 4xx to %s is asked again, and the mail comes once', async (at) => {
    const email = newAddress()
    house.mail.answer(email, { at, code: 451 }, { at, code: 421 })
    const { userId } = await house.addHuman({}, email)
    await settled(userId, ['requested', 'sent'])
    expect(house.mail.triesFor(email)).toBe(3)
    expect(house.mail.mailsTo(email)).toHaveLength(1)
  })

  it.each([
    ['RCPT TO', 'SMTP 550 5.1.1: the mail server refused the address.'],
    ['DATA', 'SMTP 550 5.1.1: the mail server refused the mail.'],
  ] as const)(
    'that says 5xx to %s is not asked again, and the failure is recorded without the address',
    async (at, reason) => {
      const email = newAddress()
      house.mail.answer(email, { at, code: 550 })
      const { userId } = await house.addHuman({}, email)
      await settled(userId, ['requested', `failed: ${reason}`])
      expect(house.mail.triesFor(email)).toBe(1)
      expect(house.mail.mailsTo(email)).toEqual([])
    },
  )

  it('that wants a password from us is asked again, and the log says once that our settings are at fault', async () => {
    const mails = Array.from({ length: 4 }, async () => {
      const email = newAddress()
      house.mail.answer(email, { at: 'RCPT TO', code: 530 }, { at: 'RCPT TO', code: 530 })
      const { userId } = await house.addHuman({}, email)
      await settled(userId, ['requested', 'sent'])
    })
    await Promise.all(mails)
    // Two notifiers run. Each says it once, whatever the number of mails and tries: there are eight.
    const lines = house.logged().split('the mail server takes no mail from us').length - 1
    expect([1, 2]).toContain(lines)
  })
})

describe('the trace of a mail', () => {
  it('holds no code and no address: not in Redis, not in the log, no code in the stream', async () => {
    const email = newAddress()
    house.mail.answer(email, { at: 'RCPT TO', code: 451 }, { at: 'DATA', code: 451 })
    const { userId } = await house.addHuman({ displayName: 'Zebulon Zebra' }, email)
    await settled(userId, ['requested', 'sent'])
    const [mail] = house.mail.mailsTo(email)
    const code = /^ {4}(\w{6})$/m.exec(mail!.text!)![1]!
    const { dir } = house.servers.home
    // Redis' log of every write since its start, and the store of the event stream.
    expect(await house.grep(`${dir}/redis`, userId)).toBe(true)
    for (const secret of [email, code, 'Zebulon']) expect(await house.grep(`${dir}/redis`, secret)).toBe(false)
    expect(await house.grep(`${dir}/nats`, userId)).toBe(true)
    expect(await house.grep(`${dir}/nats`, code)).toBe(false)
    expect(house.logged()).toContain(userId)
    for (const secret of ['@example.com', code, 'Zebulon']) expect(house.logged()).not.toContain(secret)
  })
})
