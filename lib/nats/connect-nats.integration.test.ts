import { headers } from 'nats'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { connectNats, flushed, type Nats, natsHeaders } from './connect-nats.ts'
import { layCable } from '#test/support/cable'
import { testServers } from '#test/support/servers'
import { silent } from '#test/support/rpc'

let nats: Nats
beforeAll(async () => void (nats = await connectNats(testServers().natsUrl.admin, 'admin', silent)))
afterAll(() => nats?.connection.close())

test('a service that starts while one of its servers is dead connects to another', async () => {
  const { admin } = testServers().natsUrl
  for (const url of [admin.replace('@', '@127.0.0.1:1,'), `${admin},nats://127.0.0.1:1`]) {
    const started = await connectNats(url, 'admin', silent)
    expect(started.connection.getServer()).toBe(new URL(admin).host)
    await started.connection.close()
  }
})

test('a start waits for a connection that is lost meanwhile, and fails with one that is closed', async () => {
  const cable = await layCable(testServers().natsUrl.admin)
  const { connection } = await connectNats(cable.url, 'admin', silent)
  cable.stall()
  const sent = flushed(connection)
  cable.cut()
  cable.mend()
  await sent
  await connection.close()
  await expect(flushed(connection)).rejects.toThrow('CONNECTION_CLOSED')
  await cable.stop()
})

test('what is asked without a connection fails at once, and not when no answer came', async () => {
  const cable = await layCable(testServers().natsUrl.admin)
  onTestFinished(() => cable.stop())
  const lost = await connectNats(cable.url, 'admin', silent)
  onTestFinished(() => lost.connection.close())
  cable.cut()
  await vi.waitFor(() => expect(lost.connected()).toBe(false))
  const { answer } = lost.ask('asked', '', { timeout: 5000 })
  cable.mend()
  await expect(answer).rejects.toThrow('DISCONNECT')
})

const hidden = 'PUB hidden 2\r\nhi'

test.each([`open\r\n${hidden}`, `open 0\r\n\r\n${hidden}`, 'a b', 'a\tb', 'ä', ''])(
  'nothing is sent to %j, which is no valid subject',
  async (subject) => {
    const heard: string[] = []
    nats.connection.subscribe('hidden', { callback: (_, message) => void heard.push(message.string()) })
    const { connection } = nats
    const stream = connection.jetstream()
    for (const send of [
      async () => connection.publish(subject, 'x'),
      async () => connection.request(subject, 'x', { timeout: 100 }),
      async () => nats.ask(subject, 'x', { timeout: 100 }).answer,
      async () => connection.requestMany(subject, 'x'),
      async () => connection.subscribe(subject),
      async () => stream.publish(subject, 'x', { timeout: 100 }),
    ])
      await expect(send()).rejects.toThrow('is no NATS subject')
    await connection.flush()
    expect(heard).toEqual([])
  },
)

test('no header with a line break is created', () => {
  expect(() => headers().set('name', `x\r\n\r\n${hidden}`)).toThrow('header value')
  for (const end of ['\r\n', '\n', '\r'])
    expect(() => natsHeaders({ name: `x${end}${end}${hidden}` })).toThrow('the header name has a line break')
})

test('the subject of an answer reveals nothing about the subject of the next one', async () => {
  const tokens: string[] = []
  nats.connection.subscribe('asked', {
    max: 2,
    callback(_, message) {
      tokens.push(message.reply!.split('.').at(-1)!)
      message.respond('')
    },
  })
  for (let n = 0; n < 2; n++) await nats.ask('asked', '', { timeout: 2_000 }).answer
  const [first, second] = tokens as [string, string]
  const same = [...first].filter((character, at) => character === second[at] && character !== '-')
  expect(first.length).toBeGreaterThan(30)
  expect(same.length).toBeLessThan(first.length / 2)
})
