import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { newAddress, openHouse, type TestHouse } from '../../testing/test-house.ts'

let house: TestHouse

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
})
afterAll(() => house.stop())

const soon = { timeout: 40_000, interval: 20 }

async function addHumans(organization: string, count: number) {
  return Promise.all(Array.from({ length: count }, () => house.addHuman({}, newAddress(), organization)))
}

test('mails of one organization wait for no flood of another, by the stream as well as by the sweep', async () => {
  const came: string[] = []
  let open = Promise.withResolvers<void>()
  house.mail.beforeAccepting((address) => {
    came.push(address)
    return open.promise
  })
  await house.startNotifier({ MAIL_CONCURRENCY: '1' })
  await addHumans('flood', 100)
  await vi.waitFor(async () => expect(await house.jobs()).toHaveLength(100), soon)
  const [one] = await addHumans('quiet', 1)
  await vi.waitFor(async () => expect(await house.jobs()).toHaveLength(101), soon)
  open.resolve()
  await vi.waitFor(() => expect(came).toContain(one!.email), soon)
  expect(came.length).toBeLessThan(10)

  await house.stopNotifiers()
  open = Promise.withResolvers<void>()
  await addHumans('flood', 100)
  const [two] = await addHumans('quiet', 1)
  await house.redis.flushall()
  await house.deleteStream()
  const { codes } = await house.internal.listUnsentEmailCodes({ limit: 2 }, house.call())
  expect(new Set(codes.map(({ organizationId }) => organizationId))).toEqual(new Set(['flood', 'quiet']))
  const before = came.length
  await house.startNotifier({ MAIL_CONCURRENCY: '1' })
  await vi.waitFor(async () => expect((await house.jobs()).length).toBeGreaterThan(100), soon)
  open.resolve()
  await vi.waitFor(() => expect(came).toContain(two!.email), soon)
  expect(came.length - before).toBeLessThan(10)
})
