import { randomUUID } from 'node:crypto'
import { afterAll, beforeEach, expect, test } from 'vitest'
import type { RosterError } from '#lib/errors'
import { onceId } from '#lib/rpc/idempotency'
import { mailCode } from '../../pages/recovery/request-password-reset.ts'
import { resetPassword } from '../operations/password/reset-password.ts'
import { addMachineUser } from '../operations/user/add-machine-user.ts'
import { lockUser } from '../operations/user/lock-user.ts'
import { setEmail } from '../operations/user/set-email.ts'
import { newPassword, openRecoveries, root } from './testing/recoveries.ts'

const recoveries = await openRecoveries()
const { users, answers, counted, anotherClient, stranger, newHuman, returnedCode, reset, ask, waiting } = recoveries
afterAll(() => recoveries.stop())
beforeEach(() => recoveries.anotherClient())

test('a client gets twenty requests at once, whatever names it asks for', async () => {
  for (let n = 0; n < 20; n++) await ask(randomUUID())
  const { userId, userName } = await newHuman()
  await ask(userName)
  expect(await waiting(userId)).toBeUndefined()
  anotherClient()
  await ask(userName)
  expect(await waiting(userId)).toBeDefined()
})

test('a request is stored alike under an Idempotency-Key for every name, so that its repetition reveals nothing', async () => {
  const [known, locked, full] = [await newHuman(), await newHuman(), await newHuman()]
  await lockUser(users, { userId: locked.userId }, root())
  for (let n = 0; n < 5; n++) {
    const { userId } = await newHuman()
    await setEmail.handle(users, { userId, email: full.email, verification: undefined }, root())
  }
  const machine = { userName: randomUUID(), name: 'M', description: '', accessTokenType: 0 as const }
  await addMachineUser(users, machine, root())
  for (const name of [known.userName, locked.userName, full.userName, machine.userName, randomUUID()]) {
    const once = { id: onceId([name]), request: name, encode: () => Buffer.from('made') }
    await mailCode(users, name, { ...stranger(), once })
    const again = await answers.once(once, () => Promise.reject(new Error('not stored')))
    expect(again.replayed).toBe(true)
  }
})

test('a wrong code costs the same and is stored alike, whether the user or a code exists or not', async () => {
  const withCode = await newHuman()
  await returnedCode(withCode.userId)
  const machine = { userName: randomUUID(), name: 'M', description: '', accessTokenType: 0 as const }
  const all = [
    withCode.userId,
    (await newHuman()).userId,
    (await addMachineUser(users, machine, root())).userId,
    randomUUID(),
  ]
  for (const userId of all) {
    Object.assign(counted, { statements: 0, macs: 0 })
    expect(await reset(userId, 'WRONG2')).toBe('CODE_INVALID')
    // A look, the look of the decision, and its transaction.
    expect(counted).toEqual({ statements: 3, macs: 2 })
    const once = { id: onceId([randomUUID()]), request: userId, encode: () => Buffer.from('made') }
    const request = { userId, verificationCode: 'WRONG2', newPassword: newPassword() }
    const work = () => resetPassword(users, request, { ...stranger(), once }).then(() => Buffer.from('made'))
    expect((await answers.once(once, work).catch((error: RosterError) => error)).replayed ?? false).toBe(false)
    expect((await answers.once(once, work).catch((error: RosterError) => error)).replayed).toBe(true)
  }
})
