import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openHouse, type TestHouse } from './testing/test-house.ts'

let house: TestHouse
let child: ChildProcess | undefined

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
})
afterAll(async () => {
  child?.kill('SIGKILL')
  await house.stop()
})

const soon = { timeout: 50_000, interval: 50 }

async function settled(userId: string) {
  await vi.waitFor(async () => {
    expect(await house.codeEvents(userId)).toEqual(['requested', 'sent'])
    expect(await house.jobs()).toEqual([])
  }, soon)
}

function startProcess() {
  const env = { ...process.env, ...house.notifierEnvironment }
  child = spawn(process.execPath, ['services/notifier/main.ts'], { env, stdio: 'ignore' })
  return child
}

describe('the notifier as a process', () => {
  it('sends the same code once more if killed before the mail server answers, and no other mail waits', async () => {
    const killed = startProcess()
    let times = 0
    house.mail.beforeAccepting(async () => {
      if (times++ === 0) killed.kill('SIGKILL')
    })
    const human = await house.addHuman()
    await once(killed, 'exit')
    startProcess()
    const other = await house.addHuman()
    await vi.waitFor(async () => expect(await house.codeEvents(other.userId)).toEqual(['requested', 'sent']), soon)
    expect(house.mail.mailsTo(other.email)).toHaveLength(1)
    expect(await house.codeEvents(human.userId)).toEqual(['requested'])
    await settled(human.userId)
    const mails = house.mail.mailsTo(human.email)
    expect(mails).toHaveLength(2)
    expect(mails[1]!.text).toBe(mails[0]!.text)
    expect(mails[1]!.messageId).toBe(mails[0]!.messageId)
  })

  it('goes on after SIGHUP, ends on SIGTERM with code 0, and the next process mails the codes of the time between', async () => {
    const ended = once(child!, 'exit')
    child!.kill('SIGHUP')
    child!.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
    const human = await house.addHuman()
    startProcess()
    await settled(human.userId)
    expect(house.mail.mailsTo(human.email)).toHaveLength(1)
  })
})
