import { createInbox, type NatsConnection } from 'nats'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { NatsUser } from '../local/servers/nats-users.ts'
import { accountOf, type Broker, type Heard, marked, reaches, startBroker, stores } from './test-broker.ts'
import { subjects } from './test-subjects.ts'

/** Somebody has the credentials of one of these. */
const attackers = [...stores, 'gateway', 'keeper', 'operator'] as const
// These may, and it would change what the others are tried against.
const allowed: Record<string, RegExp> = {
  keeper:
    /^ROSTER\.API\.(STREAM\.(CREATE|UPDATE|PURGE|MSG\.DELETE)\.roster-events$|CONSUMER\.CREATE\.roster-events\.notifier\.)|^roster\.stream\.forget\./,
  operator: /^ROSTER\.API\.STREAM\.MSG\.DELETE\.roster-events$/,
  users: /^roster\.stream\.forget\.users\./,
}

let broker: Broker
let attacker: NatsConnection

beforeAll(async () => {
  broker = await startBroker()
})
afterAll(() => broker?.stop())
beforeEach(async () => {
  await broker.publishEvents('an event')
  await broker.settle()
  broker.heard.length = 0
})

afterEach(() => attacker.close())

const byText = (one: Heard, other: Heard) => JSON.stringify(one).localeCompare(JSON.stringify(other))
// ROSTER hears the questions of the keeper and of this test, and their answers. These do not count.
const ours =
  /^_INBOX_(admin|keeper)\.\w{22}\.|^\$JS\.EVENT\.ADVISORY\.|^(\$JS|ROSTER)\.API\.(STREAM\.(INFO\.roster-events|LIST)|CONSUMER\.(LIST|INFO)\.roster-events(\.\w+)?)$/
const elsewhere = (user: NatsUser) =>
  broker.heard.filter(
    ({ account, subject, mark }) => account !== accountOf(user) && !(mark === '' && ours.test(subject)),
  )

describe.each(attackers)('with the credentials of %s', (user) => {
  const own = accountOf(user)
  const tried = subjects.filter(([subject]) => !allowed[user]?.test(subject))
  const open = async () => (attacker = await broker.open(user))

  test('what is published goes where the accounts say, and nothing is answered from elsewhere', async () => {
    await open()
    const before = await broker.state(user)
    const answered = new Set<string>()
    for (const [subject, payload] of tried) {
      const reply = createInbox(`_INBOX_${user}`)
      attacker.subscribe(reply, { callback: (_, { headers }) => headers?.code !== 503 && void answered.add(subject) })
      attacker.publish(subject, payload, { reply, headers: marked(`${user} ${subject}`) })
    }
    await attacker.flush()
    await broker.settle()
    const expected = tried.flatMap(([subject]) =>
      reaches(own, subject).map((there) => ({ ...there, mark: `${user} ${subject}` })),
    )
    const asked = elsewhere(user).filter(({ subject, mark }) => !subject.startsWith('_R_.') && mark.startsWith(user))
    expect(asked.toSorted(byText)).toEqual(expected.toSorted(byText))
    const isLocal = (subject: string) =>
      new RegExp(`^roster\\.${user === 'keeper' ? 'stream' : user}\\.|^\\$SRV\\.`).test(subject)
    expect([...answered].filter((subject) => !isLocal(subject) && reaches(own, subject).length === 0)).toEqual([])
    expect(await broker.state(user)).toEqual(before)
  })

  test('an answer can be sent nowhere else', async () => {
    await open()
    const before = await broker.state(user)
    const asks = tried.filter(([subject]) => reaches(own, subject).length > 0 || subject === `$SRV.PING.${user}`)
    // Not those that end with a wildcard: nats-server before 2.9.15 falls over them, here or in any other account.
    const places = tried.map(([subject]) => subject).filter((subject) => !subject.endsWith('>'))
    for (const [question, payload] of asks)
      for (const reply of places) attacker.publish(question, payload, { reply, headers: marked('a question') })
    await attacker.flush()
    await broker.settle()
    // Allowed: the place of the question itself, an answer on its way back, and all that the attacker could have
    // asked with the same words.
    const may = new Set(
      [...asks.map(([subject]) => subject), ...places]
        .flatMap((subject) => reaches(own, subject))
        .map(({ account, subject }) => `${account} ${subject}`),
    )
    const strange = elsewhere(user).filter(
      ({ account, subject, mark }) =>
        !subject.startsWith('_R_.') &&
        !may.has(`${account} ${subject}`) &&
        !(account === 'ROSTER' && mark === 'an event'),
    )
    // The events are those that its consumer gives to the attacker.
    expect(strange).toEqual([])
    expect(await broker.state(user)).toEqual(before)
  })

  test('a service hears nothing of what others say, and cannot answer in their place', async () => {
    await open()
    const overheard: string[] = []
    const hear = (subject: string, queue?: string) =>
      attacker.subscribe(subject, {
        ...(queue !== undefined && { queue }),
        callback: (error, message) => void (error ?? overheard.push(message.headers?.get('mark') ?? '')),
      })
    hear('>')
    for (const queue of [...stores, 'keeper']) hear('>', queue)
    for (const [subject] of subjects) hear(subject)
    await attacker.flush().catch(() => {})

    const mayBeHeard: string[] = []
    for (const from of [...stores, 'gateway' as const].filter((name) => name !== user)) {
      const other = await broker.open(from)
      const replies = new Map<string, string>()
      other.subscribe(`_INBOX_${from}.*`, {
        callback: (_, { headers }) => void replies.set(headers?.get('mark') ?? '', headers?.get('by') ?? ''),
      })
      const calls: { mark: string; service: string }[] = []
      for (const [subject, payload] of subjects) {
        const there = reaches(from.toUpperCase(), subject)
        if (there.length === 0) continue
        const mark = `${from} ${subject}`
        other.publish(subject, payload, { reply: createInbox(`_INBOX_${from}`), headers: marked(mark) })
        if (there.some(({ account }) => account === own)) mayBeHeard.push(mark)
        else if (/^roster\.\w+\.v1|^\$SRV/.test(subject)) calls.push({ mark, service: there[0]!.account.toLowerCase() })
      }
      await other.flush()
      await broker.settle()
      await expect.poll(() => calls.filter(({ mark, service }) => replies.get(mark) !== service)).toEqual([])
      await other.close()
    }
    await attacker.flush().catch(() => {})
    expect([...new Set(overheard)].filter((mark) => mark !== '' && !mayBeHeard.includes(mark))).toEqual([])
  })
})
