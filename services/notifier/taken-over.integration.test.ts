import { connect, headers, type NatsConnection } from 'nats'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { SetEmailRequest } from '#gen/roster/users/v1/user_service'
import { streamName } from '#lib/events/stream'
import { callerOf, newAddress, openHouse, type TestHouse } from './test-house.ts'

let house: TestHouse

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
})
afterAll(() => house.stop())

const operation = 'roster.users.v1.UserService.SetEmail'
const event = 'roster.events.notifier.forged'
const create = `$JS.API.CONSUMER.CREATE.${streamName}.notifier.${event}`

const refusals = () => house.logged().split('a message that is no call was refused').length - 1

const ways: Record<string, (notifier: NatsConnection) => Promise<unknown>> = {
  'a consumer that delivers to an operation': (notifier) =>
    ask(notifier, create, { deliver_subject: operation, deliver_group: 'users', ack_policy: 'none' }),
  'an operation as the place for the next message': async (notifier) => {
    await ask(notifier, create, { durable_name: 'notifier', ack_policy: 'explicit' })
    notifier.publish(`$JS.API.CONSUMER.MSG.NEXT.${streamName}.notifier`, '1', { reply: operation })
  },
}

test.for(Object.entries(ways))(
  'whoever has the password of the notifier calls nothing in the name of others: %s',
  async ([, prepare]) => {
    const { userId, email } = await house.addHuman()
    const { host, username: user, password: pass } = new URL(house.servers.natsUrl.notifier)
    const notifier = await connect({ servers: host, user, pass, inboxPrefix: '_INBOX_notifier' })
    onTestFinished(async () => {
      await notifier.close()
      await house.deleteStream()
    })
    const forged = headers()
    forged.set('roster-caller', JSON.stringify(callerOf('IAM_OWNER')))
    forged.set('roster-organization', 'default')
    const request = SetEmailRequest.encode({ userId, email: newAddress(), verification: undefined }).finish()
    const before = refusals()
    await house.streamIsThere()
    await prepare(notifier)
    notifier.publish(event, request, { headers: forged })
    await notifier.flush()
    await vi.waitFor(() => expect(refusals()).toBe(before + 1), { timeout: 10_000 })
    expect(await house.emailOf(userId)).toBe(email)
  },
)

async function ask(notifier: NatsConnection, subject: string, config: object) {
  const body = {
    stream_name: streamName,
    config: { name: 'notifier', filter_subject: event, deliver_policy: 'all', ...config },
  }
  const answer = await notifier.request(subject, JSON.stringify(body), { timeout: 1000 })
  expect(answer.json<{ error?: unknown }>().error).toBeUndefined()
}
