import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { newAddress, openHouse, type TestHouse } from '../testing/test-house.ts'

let house: TestHouse

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
})
afterEach(() => {
  house.mail.beforeAccepting(async () => {})
  return house.stopNotifiers()
})
afterAll(() => house.stop())

const soon = { timeout: 40_000, interval: 50 }

async function mailedOnce({ userId, email }: { userId: string; email: string }) {
  await vi.waitFor(async () => {
    expect(await house.codeEvents(userId)).toEqual(['requested', 'sent'])
    expect(await house.jobs()).toEqual([])
  }, soon)
  expect(house.mail.mailsTo(email)).toHaveLength(1)
}

async function refusedFor(email: string, tries: number) {
  await vi.waitFor(() => expect(house.mail.triesFor(email)).toBeGreaterThanOrEqual(tries), soon)
}

describe('the mail comes, once,', () => {
  it('although Redis was emptied while it waited', async () => {
    await house.startNotifier({ SWEEP_INTERVAL: '1' })
    const email = newAddress()
    house.mail.answer(email, { at: 'RCPT TO', code: 451 }, { at: 'RCPT TO', code: 451 })
    const human = await house.addHuman({}, email)
    await refusedFor(email, 1)
    await house.redis.flushall()
    await mailedOnce(human)
  })

  it('soon, although the clock of this host was set back by hours while it waited', async () => {
    await house.startNotifier({ SWEEP_INTERVAL: '1' })
    const email = newAddress()
    house.mail.answer(email, ...Array.from({ length: 3 }, () => ({ at: 'RCPT TO' as const, code: 451 })))
    const human = await house.addHuman({}, email)
    const delayed = 'roster:email-codes:delayed'
    const hours = 5 * 3_600_000 * 2 ** 12
    await vi.waitFor(async () => {
      const [id] = await house.redis.zrange(delayed, '0', '0')
      expect(id && (await house.redis.zincrby(delayed, hours, id))).toBeTruthy()
    }, soon)
    await mailedOnce(human)
  })

  it('although Redis was emptied before the mail server answered', async () => {
    await house.startNotifier({ SWEEP_INTERVAL: '1' })
    const email = newAddress()
    const emptied = vi.fn(async () => {
      await house.redis.flushall()
      // The sweep makes the job again while the first one is still under way.
      await vi.waitFor(async () => expect(await house.jobs()).not.toEqual([]), soon)
    })
    house.mail.beforeAccepting((address) => (address === email ? emptied() : Promise.resolve()))
    const human = await house.addHuman({}, email)
    await mailedOnce(human)
    expect(emptied).toHaveBeenCalledOnce()
  })

  it('although the notifier was away and the event stream is lost', async () => {
    const human = await house.addHuman()
    await house.deleteStream()
    await house.startNotifier()
    await mailedOnce(human)
  })

  it('although Redis was killed and came back', async () => {
    await house.startNotifier()
    await mailedOnce(await house.addHuman())
    await house.servers.redis!.kill()
    const human = await house.addHuman()
    await house.servers.redis!.start()
    await mailedOnce(human)
  })

  it('although Redis was not there when the notifier started', async () => {
    await house.servers.redis!.kill()
    await house.startNotifier()
    const human = await house.addHuman()
    await house.servers.redis!.start()
    await mailedOnce(human)
  })

  it('although NATS was killed and came back', async () => {
    await house.startNotifier()
    await mailedOnce(await house.addHuman())
    await house.servers.nats!.kill()
    await house.servers.nats!.start()
    await house.natsIsBack()
    await mailedOnce(await house.addHuman())
  })

  it("although the notifier's own database is away", async () => {
    await house.startNotifier({ DATABASE_URL: 'postgres://no-one@127.0.0.1:1/nothing' })
    await mailedOnce(await house.addHuman())
    await house.stopNotifiers()
  })

  it('although the mail server was away', async () => {
    await house.startNotifier()
    await house.mail.pause()
    const human = await house.addHuman()
    await vi.waitFor(() => expect(house.logged()).toContain('ESOCKET'), soon)
    await house.mail.resume()
    await mailedOnce(human)
  })

  it('although users went away after the sending and before the recording', async () => {
    await house.startNotifier()
    const human = await sendWhileUsersGoAway()
    await vi.waitFor(() => expect(house.logged()).toContain('users: SERVICE_UNAVAILABLE'), soon)
    await house.startUsers()
    await mailedOnce(human)
  })

  it('although users went away at that moment, and the notifier was restarted', async () => {
    await house.startNotifier()
    const human = await sendWhileUsersGoAway()
    await vi.waitFor(async () => expect(await house.jobs()).toEqual([expect.stringContaining('sentAt')]), soon)
    await house.stopNotifiers()
    await house.startUsers()
    await house.startNotifier()
    await mailedOnce(human)
  })
})

async function sendWhileUsersGoAway() {
  const email = newAddress()
  house.mail.beforeAccepting(async (address) => {
    if (address === email) await house.stopUsers()
  })
  return house.addHuman({}, email)
}

it('a stop does not wait for a Redis that is away', async () => {
  await house.startNotifier()
  await mailedOnce(await house.addHuman())
  await house.servers.redis!.kill()
  const before = Date.now()
  await house.stopNotifiers()
  expect(Date.now() - before).toBeLessThan(5000)
  await house.startNotifier()
  await house.stopNotifiers()
  await house.servers.redis!.start()
})
