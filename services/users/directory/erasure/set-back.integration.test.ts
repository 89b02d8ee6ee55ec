import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { Gender } from '#gen/roster/users/v1/user'
import { createFeed } from '#lib/subscriptions/feed'
import { startOutbox } from '#lib/outbox/start-outbox'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { streamName } from '#lib/events/stream'
import { connectNats, type Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { createDatabase, type TestDatabase } from '#test/support/database'
import { startTestKeeper } from '#test/support/keeper'
import { startOwnNats } from '#test/support/publishing'
import { copyStream } from '#test/support/set-back'
import type { Servers } from '../../../../deploy/local/servers.ts'
import { addHumanUser } from '../operations/user/add-human-user.ts'
import { removedUser } from '../states/removed-user.ts'
import { callIn, openUsers, type TestUsers } from '../../testing/test-users.ts'
import type { User } from '../events/user.ts'
import { startErasureAgain } from './erase-again.ts'
import { startErasure } from './erasure.ts'

const soon = { timeout: 20_000, interval: 20 }
let [servers, database, users]: [Servers?, TestDatabase?, TestUsers?] = []
let [nats, grants, admin]: Nats[] = []
let keeper: Service

beforeAll(async () => {
  ;[servers, database] = await Promise.all([startOwnNats(), createDatabase()])
  users = await openUsers(database.urls.users)
  const none = {
    instanceRoles: [],
    memberships: [],
    projectMemberships: [],
    organizationClosed: false,
    hasRole: false,
    moreOthers: false,
  }
  users.grants = { ...users.grants, listMemberships: async () => none }
  const { natsUrl } = servers
  ;[nats, grants, admin] = await Promise.all(
    (['users', 'grants', 'admin'] as const).map((name) => connectNats(natsUrl[name], name, users!.log)),
  )
  keeper = await startTestKeeper(natsUrl)
})
afterAll(async () => {
  await keeper?.stop()
  await Promise.all([nats, grants, admin].map(async (each) => each?.connection.close()))
  await users?.stop()
  await Promise.all([database?.drop(), servers?.stop()])
})

/** Starts what publishes the events of users and cleans the stream of removed ones. Returns what ends it. */
function start() {
  const { sql, log, personal } = users!
  const list = createFeed({ service: 'users', sql, log, personal })
  const options = { sql, log, nats: nats! }
  const running = [
    startOutbox({ service: 'users', personal, ...options }),
    startErasure({ ...options, feed: (request) => list({}, request) }),
    startErasureAgain({ ...options, every: 100 }),
  ]
  return async () => void (await Promise.all(running.map((service) => service.stop())))
}

async function addHuman(name: string) {
  const email = { email: `${name}@example.com`, verification: undefined }
  const profile = { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: Gender.GENDER_UNSPECIFIED }
  await addHumanUser.handle(users!, { userId: name, userName: name, profile, email }, callIn('acme'))
}
const remove = (userId: string) =>
  users!.store.execute({
    aggregate: { type: 'user', id: userId },
    call: callIn('acme'),
    decide: ({ state, organizationId }: Aggregate<User>) => removedUser(state!, organizationId),
  })
const streams = async () => (await admin!.connection.jetstreamManager()).streams
const held = async (userId: string) => {
  const { state } = await (await streams()).info(streamName, { subjects_filter: `roster.events.users.*.*.${userId}.>` })
  return Object.keys(state.subjects ?? {})
}
const subjectOf = (userId: string, type: string) => `roster.events.users.acme.user.${userId}.${type}`
const readable = (userId: string) => [subjectOf(userId, 'email.code.requested'), subjectOf(userId, 'human.added')]
const waitFor = (userId: string, subjects: string[]) =>
  vi.waitFor(async () => expect((await held(userId)).toSorted()).toEqual(subjects), soon)
const lastPlace = async () => (await (await streams()).info(streamName)).state.last_seq

async function othersPublishUntil(place: number) {
  while ((await lastPlace()) < place)
    await grants!.connection.jetstream().publish('roster.events.grants.acme.project.p.added', '{}')
}

test.each(['users notice first', 'other services fill the lost places first'])(
  'a stream set back to an older copy loses again what that copy has of a removed user: %s',
  async (order) => {
    const userId = `removed-${order.split(' ')[0]}`
    let end = start()
    onTestFinished(() => end())
    await addHuman(userId)
    await waitFor(userId, readable(userId))
    const setBack = await copyStream(servers!)
    await remove(userId)
    await waitFor(userId, [subjectOf(userId, 'removed')])
    const place = await lastPlace()
    await end()
    await setBack()
    await waitFor(userId, readable(userId))
    if (order !== 'users notice first') await othersPublishUntil(place + 10)
    end = start()
    await waitFor(userId, [subjectOf(userId, 'removed')])
  },
)
