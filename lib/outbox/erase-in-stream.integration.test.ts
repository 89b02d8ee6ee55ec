import { headers, type JetStreamManager } from 'nats'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Servers } from '../../deploy/local/servers.ts'
import { startTestKeeper } from '#test/support/keeper'
import { startOwnNats } from '#test/support/publishing'
import { silent } from '#test/support/rpc'
import { connectNats, type Nats } from '../nats/connect-nats.ts'
import type { Service } from '../process.ts'
import { type Ended, eraseInStream, eraseSubject, erasable } from './erase-in-stream.ts'
import { streamName, streamState } from '../events/stream.ts'
import { subjectToken } from '../events/subject.ts'

let servers: Servers
let keepers: Service[]
let users: Nats
let grants: Nats
let admin: Nats
let manager: JetStreamManager

beforeAll(async () => {
  servers = await startOwnNats()
  keepers = await Promise.all([startTestKeeper(servers.natsUrl), startTestKeeper(servers.natsUrl)])
  ;[users, grants, admin] = (await Promise.all(
    (['users', 'grants', 'admin'] as const).map((name) => connectNats(servers.natsUrl[name], name, silent)),
  )) as [Nats, Nats, Nats]
  manager = await admin.connection.jetstreamManager()
  await streamState(users)
})
afterAll(async () => {
  await Promise.all(keepers.map((keeper) => keeper.stop()))
  await Promise.all([users, grants, admin].map((nats) => nats.connection.close()))
  await servers?.stop()
})
beforeEach(() => manager.streams.purge(streamName))

/** Publishes a message on each subject that has the attributes of its event. */
const publish = async (...subjects: string[]) => {
  for (const subject of subjects) await publishOne(subject)
}
const publishOne = (subject: string, changed: Record<string, string> = {}, data = '{}') => {
  const [service, organization, aggregate, id, ...type] = subject.split('.').map(decodeURIComponent)
  const attributes = {
    specversion: '1.0',
    id: `${service}-7`,
    source: `/roster/${service}`,
    type: `roster.${aggregate}.${type.join('.')}.v1`,
    subject: `${aggregate}/${id}`,
    organization: organization!,
    ...changed,
  }
  const all = headers()
  for (const [name, value] of Object.entries(attributes)) if (value) all.set(`ce-${name}`, value)
  const { connection } = service === 'grants' ? grants : users
  return connection.jetstream().publish(`roster.events.${subject}`, data, { headers: all })
}
const held = async () => {
  const { state } = await manager.streams.info(streamName, { subjects_filter: '>' })
  return Object.entries(state.subjects ?? {})
    .map(([subject, count]) => `${subject.slice('roster.events.'.length)} ${count}`)
    .toSorted()
}
const removed = async (ended: Ended) => (await eraseInStream(users, 'users', ended)).removed
const user = (id: string, organizationId = 'acme'): Ended => ({ organizationId, type: 'user', id })

describe('the keeper removes', () => {
  const others = [
    'users.acme.user.v.human%2Eadded',
    'users.acme.organization.u.removed',
    'users.other.user.u.human.added',
    'grants.acme.user.u.human.added',
  ]

  test('the events of a removed user, and keeps the removal and all that is of others', async () => {
    await publish('users.acme.user.u.human.added', ...others, 'users.acme.user.u.email.changed')
    await publish('users.acme.user.u.email.changed', 'users.acme.user.u.removed')
    expect(await removed(user('u'))).toBe(3)
    expect(await held()).toEqual([...others, 'users.acme.user.u.removed'].map((subject) => `${subject} 1`).toSorted())
  })

  test('what belongs to the user with it, up to the end of the user', async () => {
    const parts = ['email', 'password'].map((kind) => `users.acme.user%2E${kind}%2Ecode.u.failed`)
    const notice = 'users.acme.user%2Eemail%2Enotice.u.requested'
    const others = ['users.acme.user%2Eemail%2Ecode.v.failed', 'users.acme.user%2Egrant.u.added']
    await publish(...parts, notice, ...others, 'users.acme.user.u.removed', ...parts)
    expect(await eraseInStream(users, 'users', user('u'))).toEqual({ removed: 3, types: erasable['users'] })
    expect(await held()).toEqual(
      [...parts, ...others, 'users.acme.user.u.removed'].map((subject) => `${subject} 1`).toSorted(),
    )
  })

  test('all up to the last end, where the removal was undone once', async () => {
    const all = ['removed', 'restored', 'removed', 'forgotten'].map((type) => `users.acme.user.u.${type}`)
    await publish(...all)
    expect(await removed(user('u'))).toBe(3)
    expect(await held()).toEqual(['users.acme.user.u.forgotten 1'])
  })

  test.each(['*', '>', 'a.b', '', '%', 'é '])('of the id %j only what is of that user', async (id) => {
    await publish('users.acme.user.u.human.added', 'users.acme.user.u.removed')
    expect(await removed(user(id))).toBe(0)
    expect(await held()).toHaveLength(2)
  })

  test('nothing a second time', async () => {
    await publish('users.acme.user.u.human.added', 'users.acme.user.u.removed')
    expect(await Promise.all([1, 2, 3].map(() => removed(user('u'))))).toContain(1)
    expect(await removed(user('u'))).toBe(0)
    expect(await held()).toEqual(['users.acme.user.u.removed 1'])
  })
})

describe('nothing is removed', () => {
  const events = ['users.acme.user.u.human.added', 'grants.acme.user.u.added', 'grants.acme.user.u.removed']
  beforeEach(() => publish(...events))
  const isWhole = async () => expect(await held()).toEqual(events.map((subject) => `${subject} 1`).toSorted())

  test('of a user that is still there', async () => {
    await expect(eraseInStream(users, 'users', user('u'))).rejects.toThrow('the stream has no end')
    await isWhole()
  })

  test.each<[string, Record<string, string>, string?]>([
    ['of the audit', { type: 'roster.audit.checkpoint.signed.v1', id: 'users-checkpoint-9', subject: 'audit/users' }],
    ['of another type', { type: 'roster.user.restored.v1' }],
    ['of another user', { subject: 'user/v' }],
    ['of another object', { subject: 'organization/u' }],
    ['of another organization', { organization: 'other' }],
    ['of another service', { source: '/roster/grants', id: 'grants-7' }],
    ['without an id', { id: '' }],
    ['without attributes', { specversion: '' }],
    ['that is no JSON', {}, ''],
    ['that can be undone', {}, '{"forgetAt":"2026-12-24T00:00:00Z"}'],
  ])('where the end is a message %s', async (_, changed, data) => {
    await publish('users.acme.user.u.human.added', 'users.acme.user%2Eemail%2Ecode.u.failed')
    await publishOne('users.acme.user.u.removed', changed, data)
    const before = await held()
    await expect(eraseInStream(users, 'users', user('u'))).rejects.toThrow('the stream has no end')
    expect(await held()).toEqual(before)
  })

  test('of a user of whom the stream has nothing any more, and that is no error', async () => {
    expect(await removed(user('gone'))).toBe(0)
    await isWhole()
  })

  test.each([
    'users.*.user.*',
    'users.acme.user.>',
    'users.acme.*.u',
    'users.acme.user.u.removed',
    'users.acme.user',
    'users',
  ])('at the request %s', async (tokens) => {
    await publish('users.acme.user.u.removed')
    const answer = await users.ask(`${eraseSubject}.${tokens}`, '', { timeout: 2000 }).answer.catch(String)
    expect(typeof answer === 'string' ? answer : answer.json()).not.toHaveProperty('removed')
    expect(await held()).toHaveLength(4)
  })

  test.each(['audit', 'organization', 'user.audit', 'user.grant', 'signing', 'user.email', 'user.email.code'])(
    'of the type %s, which is no person, even where users publishes its end',
    async (type) => {
      const token = subjectToken(type)
      const ends = [`users.roster.${token}.users.removed`, 'users.roster.user.users.removed']
      await publish(`users.roster.${token}.users.checkpoint`, ...ends)
      const before = await held()
      const asked = eraseInStream(users, 'users', { organizationId: 'roster', type, id: 'users' })
      await expect(asked).rejects.toThrow('no event type of this service is about a person')
      expect(await held()).toEqual(before)
    },
  )

  test.each(['grants', 'users'])(
    'at a request of grants, which the broker refuses, in the name of %s',
    async (name) => {
      await publish('users.acme.user.u.removed')
      await expect(eraseInStream(grants, name, user('u'))).rejects.toThrow('503')
      expect(await held()).toHaveLength(4)
    },
  )

  test('at a request of users for events of grants', async () => {
    await expect(eraseInStream(users, 'grants', user('u'))).rejects.toThrow('503')
    await isWhole()
  })
})
