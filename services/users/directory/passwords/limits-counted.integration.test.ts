import { afterAll, expect, test } from 'vitest'
import { startTestMetrics } from '#test/support/metrics'
import { openAfterResponse } from '../../after-response.ts'
import { setEmail } from '../operations/user/set-email.ts'
import { newAddress, openRecoveries, returned, root, verified } from './testing/recoveries.ts'

const read = startTestMetrics()
const recoveries = await openRecoveries()
const { users, newHuman, ask } = recoveries
afterAll(() => recoveries.stop())

const hits = async (limit: string) => (await read('roster.limit.hits'))[limit]

test('codes for a forgotten password that are not mailed are counted by the limit, though the answer does not say so', async () => {
  recoveries.anotherClient()
  const { userName } = await newHuman()
  await ask(userName)
  expect(await hits('CODE_THROTTLED')).toBe(0)
  await ask(userName)
  expect(await hits('CODE_THROTTLED')).toBe(1)

  const victim = newAddress()
  for (let n = 0; n < 5; n++) {
    const { userId, userName: other } = await newHuman()
    await setEmail.handle(users, { userId, email: victim, verification: verified }, root())
    await ask(other)
  }
  const { userId, userName: name } = await newHuman()
  await setEmail.handle(users, { userId, email: victim, verification: verified }, root())
  await ask(name)
  expect(await hits('mails.address')).toBe(1)

  recoveries.anotherClient()
  for (let n = 0; n < 25; n++) await ask('no-one')
  expect(await hits('password_resets')).toBe(5)
})

test('notices that are left out are counted', async () => {
  const { userId, email } = await newHuman()
  for (let n = 0; n < 6; n++) {
    await setEmail.handle(users, { userId, email, verification: verified }, root())
    await setEmail.handle(users, { userId, email: newAddress(), verification: returned }, root())
  }
  expect(await hits('mails.notices')).toBe(1)
})

test('work after an answer that finds no place is counted', async () => {
  const afterResponse = openAfterResponse(users.log)
  const { promise, resolve } = Promise.withResolvers<void>()
  for (let n = 0; n < 1010; n++) afterResponse.run('lane', () => promise)
  await expect.poll(() => hits('STORE_OVERLOADED')).toBe(2)
  resolve()
  await afterResponse.stop()
})
