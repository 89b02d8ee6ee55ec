import { expect, onTestFinished, vi } from 'vitest'
import type { ListEventsRequest } from '#gen/roster/feed/v1/feed'
import type { Aggregate } from '#lib/eventstore/aggregate'
import { createFeed } from '#lib/subscriptions/feed'
import { startOutbox } from '#lib/outbox/start-outbox'
import { streamName } from '#lib/events/stream'
import { connectNats, type Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { createDatabase } from '#test/support/database'
import { startTestKeeper } from '#test/support/keeper'
import { counting, startOwnNats } from '#test/support/publishing'
import { addHumanUser } from '../../operations/user/add-human-user.ts'
import { setEmail } from '../../operations/user/set-email.ts'
import { removedUser } from '../../states/removed-user.ts'
import { callIn, openUsers } from '../../../testing/test-users.ts'
import type { User } from '../../events/user.ts'
import { startErasure } from '../erasure.ts'

export const soon = { timeout: 20_000, interval: 20 }

/** What the stream has of a user in the end. */
export const onlyTheEnd = (userId: string) => [`roster.events.users.acme.user.${userId}.removed`]

/** A replica of users with a stream of its own, its keeper and an outbox. */
export type Removals = Awaited<ReturnType<typeof openRemovals>>

export async function openRemovals() {
  const [servers, database] = await Promise.all([startOwnNats(), createDatabase()])
  const users = await openUsers(database.urls.users)
  const { sql, log, personal } = users
  const none = {
    instanceRoles: [],
    memberships: [],
    projectMemberships: [],
    organizationClosed: false,
    hasRole: false,
    moreOthers: false,
  }
  users.grants = { ...users.grants, listMemberships: async () => none }
  const nats = await connectNats(servers.natsUrl.users, 'users', log)
  const admin = await connectNats(servers.natsUrl.admin, 'admin', log)
  const beginOutbox = () => startOutbox({ service: 'users', sql, nats, log, personal })
  let outbox = beginOutbox()
  let keeper: Service | undefined
  let running: Service[] = []
  let number = 0

  async function held(userId: string) {
    const manager = await admin.connection.jetstreamManager()
    const { state } = await manager.streams.info(streamName, {
      subjects_filter: `roster.events.users.acme.*.${userId}.>`,
    })
    return Object.keys(state.subjects ?? {})
  }
  async function rowOf(userId: string) {
    const [row] = await sql`
      select organization_id, stream_at is not null as done, stream_events from forgettings where user_id = ${userId}
    `
    return row
  }
  async function startKeeper() {
    keeper ??= await startTestKeeper(servers.natsUrl)
  }
  async function stopKeeper() {
    await keeper?.stop()
    keeper = undefined
  }
  const run = (service: Service) => void running.push(service)

  return {
    users,
    nats,
    admin,
    /** For each test: the keeper is there, and what the test starts ends with it. */
    async begin() {
      await startKeeper()
      onTestFinished(async () => {
        await Promise.all(running.map((service) => service.stop()))
        running = []
      })
    },
    startKeeper,
    stopKeeper,
    startOutbox: () => void (outbox = beginOutbox()),
    stopOutbox: () => outbox.stop(),
    run,
    /** No test waits for the end of the last one that was started: it is lost for good. */
    abandon: () => void running.pop(),
    /** Starts what follows removals. `looked`: it asked the database. */
    start(through: Nats = nats, looked = () => {}) {
      const list = createFeed({ service: 'users', sql, log, personal })
      const feed = (request: ListEventsRequest) => list({}, request)
      run(startErasure({ sql: counting(sql, looked), log, nats: through, feed }))
    },
    /** A human who has had two addresses. */
    async addHuman(prefix = 'erased', organization = 'acme') {
      const name = `${prefix}-${++number}`
      const { userId } = await addHumanUser.handle(
        users,
        {
          userId: name,
          userName: name,
          profile: { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 },
          email: { email: `${name}@example.com`, verification: undefined },
        },
        callIn(organization),
      )
      const email = { userId, email: `${name}@example.org`, verification: undefined }
      await setEmail.handle(users, email, callIn(organization))
      return userId
    },
    remove: (userId: string, organization = 'acme') =>
      users.store.execute({
        aggregate: { type: 'user', id: userId },
        call: callIn(organization),
        decide: ({ state, organizationId }: Aggregate<User>) => removedUser(state!, organizationId),
      }),
    /** The subjects that the stream has of a user. */
    held,
    /** The row of `forgettings`. */
    rowOf,
    published: (userId: string) =>
      vi.waitFor(async () => expect(await held(userId)).toContain(onlyTheEnd(userId)[0]), soon),
    done: (userId: string) => vi.waitFor(async () => expect(await rowOf(userId)).toMatchObject({ done: true }), soon),
    async stop() {
      await outbox.stop()
      await stopKeeper()
      await Promise.all([nats, admin].map((each) => each.connection.close()))
      await users.stop()
      await Promise.all([database.drop(), servers.stop()])
    },
  }
}
