import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { kinds } from '../show.ts'
import { newAddress, openHouse, type TestHouse } from '../testing/test-house.ts'

let house: TestHouse

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
  await house.startNotifier({ SWEEP_INTERVAL: '1' })
  await house.webhooksAnswer()
})
afterAll(() => house.stop())

const soon = { timeout: 40_000, interval: 50 }

describe('the ledger says of a mail', () => {
  const mails = async (userId: string) =>
    (await house.deliveries({ userId, kind: kinds.mail })).map(({ state, error }) =>
      [state, error].filter(Boolean).join(': '),
    )

  it('that it is queued while the mail server refuses it, and sent once the server took it', async () => {
    const email = newAddress()
    house.mail.answer(email, ...Array.from({ length: 3 }, () => ({ at: 'RCPT TO', code: 451 }) as const))
    const { userId } = await house.addHuman({}, email)
    const refusal = 'queued: SMTP 451 4.1.1: the mail server refused the address.'
    await vi.waitFor(async () => expect(await mails(userId)).toEqual([refusal]), soon)
    await vi.waitFor(async () => expect(await mails(userId)).toEqual(['sent']), soon)
  })

  it('that it failed, and why', async () => {
    const email = newAddress()
    house.mail.answer(email, { at: 'RCPT TO', code: 550 })
    const { userId } = await house.addHuman({}, email)
    await vi.waitFor(async () => expect((await mails(userId))[0]).toMatch(/^failed: /), soon)
    expect(JSON.stringify(await house.deliveries({ userId }))).not.toContain('@')
  })

  it('that another one superseded it before it was sent', async () => {
    const email = newAddress()
    house.mail.answer(email, ...Array.from({ length: 50 }, () => ({ at: 'RCPT TO', code: 451 }) as const))
    const { userId } = await house.addHuman({}, email)
    await vi.waitFor(async () => expect((await mails(userId))[0]).toMatch(/^queued/), soon)
    await house.setEmail(userId, newAddress())
    await vi.waitFor(
      async () => expect(await mails(userId)).toEqual([expect.stringMatching(/^superseded/), 'sent']),
      soon,
    )
  })
})
