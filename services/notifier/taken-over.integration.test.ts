import { connect, createInbox, headers, type NatsConnection } from 'nats'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { SetEmailRequest } from '#gen/roster/users/v1/user_service'
import { streamName } from '#lib/events/stream'
import { callerOf, newAddress, openHouse, type TestHouse } from './testing/test-house.ts'

let house: TestHouse

beforeAll(async () => {
  house = await openHouse()
  await house.startUsers()
})
afterAll(() => house.stop())

const operation = 'roster.users.v1.UserService.SetEmail'
type Service = 'grants' | 'idp' | 'notifier'

/** Ways to make the users service run the operation. */
const ways: Record<string, (own: NatsConnection, name: Service, send: Send) => Promise<void>> = {
  'by asking': async (_own, _name, send) => send(operation, createInbox('_INBOX_x')),
  'by answering a question of its own that names the operation as the place': async (own, name, send) => {
    own.subscribe(`$SRV.PING.${name}`, { callback: (_, { reply }) => send(reply!, '_INBOX_x.y') })
    own.publish(`$SRV.PING.${name}`, '', { reply: operation })
    await own.flush()
  },
  'by an operation as the place for the next message of its consumer': async (own, name, send) => {
    send(`roster.events.${name}.forged`)
    for (const api of ['ROSTER.API', '$JS.API'])
      own.publish(`${api}.CONSUMER.MSG.NEXT.${streamName}.${name}`, '1', { reply: operation })
  },
  'by a consumer that delivers to the operation': async (own, name, send) => {
    const config = { name, deliver_subject: operation, deliver_group: 'users', ack_policy: 'none', filter_subject: '>' }
    const body = JSON.stringify({ stream_name: streamName, config: { ...config, durable_name: name } })
    for (const api of ['ROSTER.API', '$JS.API']) own.publish(`${api}.CONSUMER.CREATE.${streamName}.${name}.>`, body)
    send(`roster.events.${name}.forged`)
  },
}
type Send = (subject: string, reply?: string) => void

const everybody = (['grants', 'idp', 'notifier'] as const).flatMap((name) =>
  Object.keys(ways).map((way) => [name, way] as const),
)

test.for(everybody)('the password of %s allows no call in the name of others: %s', async ([name, way]) => {
  const { userId, email } = await house.addHuman()
  const { host, username: user, password: pass } = new URL(house.servers.natsUrl[name])
  const own = await connect({ servers: host, user, pass, inboxPrefix: `_INBOX_${name}` })
  onTestFinished(() => own.close())
  const forged = headers()
  forged.set('roster-caller', JSON.stringify(callerOf('IAM_OWNER')))
  forged.set('roster-organization', 'default')
  const request = SetEmailRequest.encode({ userId, email: newAddress(), verification: undefined }).finish()
  await ways[way]!(own, name, (subject, reply = '') => own.publish(subject, request, { headers: forged, reply }))
  await own.flush()
  // This answer comes last: users have handled every earlier message.
  const other = await house.addHuman()
  await house.setEmail(other.userId, newAddress())
  expect(await house.emailOf(userId)).toBe(email)
})
