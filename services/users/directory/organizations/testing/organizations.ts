import { expect, vi } from 'vitest'
import { AccessTokenType } from '#gen/roster/users/v1/user'
import { testServers } from '#test/support/servers'
import { openDatabase } from '#lib/database/database'
import { createFeed } from '#lib/subscriptions/feed'
import { migrate } from '#lib/schema/migrate'
import { createStore } from '#lib/eventstore/store'
import { hintSubject, writeHints } from '#lib/events/hints'
import { connectNats } from '#lib/nats/connect-nats'
import { createDatabase } from '#test/support/database'
import { createHold } from '#test/support/hold'
import { model } from '../../../model.ts'
import { addHumanUser } from '../../operations/user/add-human-user.ts'
import { addMachineUser } from '../../operations/user/add-machine-user.ts'
import { callIn, openUsers, signInBy } from '../../../testing/test-users.ts'
import { startEndingOrganizationSessions } from '../../../sessions/end-organization-sessions.ts'
import { startFollowingOrganizations } from '../follow-organizations.ts'

export const soon = { timeout: 15_000, interval: 20 }

export const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: { reason: string }) => error.reason,
  )

/** A replica of users that follows what happens to organizations. Each test has an organization of its own. */
export type Organizations = Awaited<ReturnType<typeof openOrganizations>>

export async function openOrganizations() {
  const database = await createDatabase()
  // A removed organization takes its users at once, whatever the delay of other removals.
  const users = await openUsers(database.urls.users, { FORGET_AFTER_DAYS: '7' })
  const grantsSql = openDatabase(database.urls.grants, 'grants', users.log)
  await migrate(grantsSql, new URL('../../../../grants/migrations/', import.meta.url), users.log)
  const nats = await connectNats(testServers().natsUrl.users, 'users', users.log)
  const feed = createFeed({ service: 'grants', sql: grantsSql, log: users.log })
  const none = {
    instanceRoles: [],
    memberships: [],
    projectMemberships: [],
    organizationClosed: false,
    hasRole: false,
    moreOthers: false,
  }
  const listMemberships = async () => none
  users.grants = { ...users.grants, listMemberships, listEvents: (request) => feed({}, request) }
  const followers = [
    ...startFollowingOrganizations(users, nats, users.log),
    startEndingOrganizationSessions(users, nats, users.log),
  ]
  const slow = createHold()
  const own = { organizationId: '' }
  let number = 0

  return {
    users,
    /** The organization that the rest is about. */
    own,
    begin() {
      own.organizationId = `org-${++number}`
    },
    /** Stores an event of the organization in grants' database, and announces it to the followers. */
    async happens(type: 'deactivated' | 'reactivated' | 'removed', sequence: number) {
      const { organizationId } = own
      const [{ position }] = await grantsSql<[{ position: string }]>`
        insert into events
          (aggregate_type, aggregate_id, sequence, type, payload, organization_id, creator, request_id, created_at)
        values ('organization', ${organizationId}, ${sequence}, ${type}, '{}', ${organizationId}, 'boss', 'r', roster_now())
        returning position
      `
      const event = { organization_id: organizationId, aggregate_type: 'organization', type }
      nats.connection.publish(hintSubject('grants'), writeHints([event]))
      return `grants-${position}`
    },
    hasState: (state: string) =>
      vi.waitFor(async () => {
        const known = await users.store.load('user_organization', own.organizationId)
        expect(known?.state).toMatchObject({ state })
      }, soon),
    addMachine: (userId: string, context = users) =>
      addMachineUser(
        context,
        {
          userId,
          userName: userId,
          name: 'M',
          description: '',
          accessTokenType: AccessTokenType.ACCESS_TOKEN_TYPE_BEARER,
        },
        callIn(own.organizationId),
      ),
    addHuman: (userName: string) =>
      addHumanUser.handle(
        users,
        {
          userId: userName,
          userName,
          password: 'violet umbrella',
          profile: { firstName: 'A', lastName: 'B', preferredLanguage: '', gender: 0 },
          email: { email: `${userName}@example.com`, verification: undefined },
        },
        callIn(own.organizationId),
      ),
    signIn: (loginName: string, context = users) =>
      signInBy(context, { loginName, password: 'violet umbrella' }, { ...callIn(''), clientAddress: loginName }),
    /** A store whose next transaction waits after `arrived`, until `release`. */
    held() {
      const store = createStore(slow.wrap(users.sql), model, users.log, () => {}, undefined, users)
      return { context: { ...users, store }, ...slow.hold() }
    },
    async stop() {
      await Promise.all(followers.map((follower) => follower.stop()))
      await nats.connection.close()
      await grantsSql.end()
      await users.stop()
      await database.drop()
    },
  }
}
