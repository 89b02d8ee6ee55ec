import { randomBytes, randomUUID } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import postgres from 'postgres'
import { expect, vi } from 'vitest'
import { DeliveryServiceDefinition, type SearchDeliveriesRequest } from '#gen/roster/notifier/v1/delivery_service'
import { type AddWebhookRequest, WebhookServiceDefinition } from '#gen/roster/notifier/v1/webhook_service'
import { InternalServiceDefinition as NotifierInternal } from '#gen/roster/notifier/v1/internal_service'
import { MailServiceDefinition, type SearchMailsRequest } from '#gen/roster/notifier/v1/mail_service'
import { InternalServiceDefinition } from '#gen/roster/users/v1/internal_service'
import { type AddHumanUserRequest, UserServiceDefinition } from '#gen/roster/users/v1/user_service'
import { Gender } from '#gen/roster/users/v1/user'
import { testServers } from '#test/support/servers'
import { mailsWithoutEvent, type MailWithoutEvent } from '#lib/events/hints'
import { streamName } from '#lib/events/stream'
import { startTestKeeper } from '#test/support/keeper'
import { connectNats, type Nats } from '#lib/nats/connect-nats'
import type { Service } from '#lib/process'
import { callBytes, createClient, type MethodDefinition } from '#lib/rpc/call'
import { anonymous, type Caller } from '#lib/rpc/caller'
import { testCallerKeys, testSigner } from '#test/support/caller-keys'
import { startServers } from '../../../deploy/local/servers.ts'
import { createDatabase } from '#test/support/database'
import { shiftClock } from '#test/support/shift-clock'
// The real users service: an imitation would prove nothing.
// oxlint-disable-next-line no-restricted-imports
import { readUsersConfig } from '../../users/config.ts'
// oxlint-disable-next-line no-restricted-imports
import { startUsers } from '../../users/service.ts'
import { states } from '../show.ts'
import { readNotifierConfig } from '../config.ts'
import { eventColumns } from '#lib/eventstore/event-page'
import { openPersonal } from '#lib/encryption/personal'
import type { StoredEvent } from '#lib/events/stored-event'
import { encryptionKey } from '#lib/encryption/keys'
import { startNotifier } from '../service.ts'
import { startTestMailServer } from './test-mail-server.ts'
import { internalCalls } from '../../internal-calls.ts'

// As far as events are opened with it.
const ofUsers = { subject: 'user', events: [], states: [], keyKinds: [], isErased: () => false }

export type TestHouse = Awaited<ReturnType<typeof openHouse>>

/**
 * The notifier and the users service in this process, on NATS, Redis and SMTP servers of their own that a test may
 * restart.
 */
export async function openHouse() {
  const [mail, database] = await Promise.all([startTestMailServer(), createDatabase()])
  const given = { DATABASE_URL: testServers().databaseUrl, SMTP_URL: mail.url }
  const servers = await startServers({ ephemeral: true, ports: 'random', env: given, say: () => {} })
  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line) => void lines.push(line) })
  const nats = await Promise.all(
    (['users', 'notifier', 'gateway', 'admin'] as const).map((user) => connectNats(servers.natsUrl[user], user, log)),
  )
  const [natsOfUsers, natsOfNotifier, natsOfGateway, natsOfAdmin] = nats as [Nats, Nats, Nats, Nats]
  // The gateway calls and signs the caller.
  Object.assign(natsOfGateway, { sign: testSigner() })
  const keeper = await startTestKeeper(servers.natsUrl)
  const sql = postgres(database.urls.users, { max: 1, onnotice: () => {} })
  const ledger = postgres(database.urls.notifier, { max: 1, onnotice: () => {} })
  const redis = new Redis(servers.redisUrl, { maxRetriesPerRequest: null }).on('error', () => {})
  const environment: Record<string, string> = {
    DATABASE_URL: database.urls.users,
    NATS_URL: servers.natsUrl.users,
    REDIS_URL: servers.redisUrl,
    SMTP_URL: mail.url,
    PUBLIC_URL: 'https://id.example.com',
    ROSTER_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    ROSTER_CALLER_KEY: testCallerKeys.users,
    ROSTER_ADMIN_TOKEN_FILE: join(servers.home.dir, 'admin-token'),
    // So long that only the first sweep happens.
    SWEEP_INTERVAL: '3600',
    WEBHOOK_ALLOW_PRIVATE: '127.0.0.1',
  }
  const notifierEnvironment = {
    ...environment,
    DATABASE_URL: database.urls.notifier,
    NATS_URL: servers.natsUrl.notifier,
    ROSTER_CALLER_KEY: testCallerKeys.notifier,
  }
  let users: Service | undefined
  const notifiers: Service[] = []

  async function ask<Q, R>(
    { name, requestType, responseType }: MethodDefinition<Q, R>,
    request: Q,
    service = UserServiceDefinition.fullName as string,
    organizationId = 'default',
    caller = callerOf('IAM_OWNER'),
    within = 10_000,
  ): Promise<R> {
    const call = {
      caller,
      organizationId,
      requestId: '',
      clientAddress: '',
      traceparent: '',
    }
    const subject = `${service}.${name}`
    const bytes = requestType.encode(request).finish()
    const answer = await callBytes(natsOfGateway, subject, bytes, { ...call, deadline: Date.now() + within })
    return responseType.decode(answer.bytes)
  }

  async function stopNotifiers() {
    await Promise.all(notifiers.splice(0).map((notifier) => notifier.stop()))
  }

  return {
    mail,
    servers,
    redis,
    /** The notifier's own tables. */
    ledger,
    notifierEnvironment,
    /** The whole log as text. */
    logged: () => lines.join(''),
    internal: createClient(natsOfNotifier, InternalServiceDefinition, internalCalls.notifier.users),
    startUsers: async () =>
      void (users = await startUsers({ config: readUsersConfig(environment), nats: natsOfUsers, log })),
    async stopUsers() {
      await users?.stop()
      users = undefined
    },
    async startNotifier(more: Record<string, string> = {}) {
      const config = readNotifierConfig({ ...notifierEnvironment, ...more })
      notifiers.push(await startNotifier({ config, nats: natsOfNotifier, log }))
    },
    stopNotifiers,
    /** Adds a human. A code is mailed to the address. */
    async addHuman(
      profile: Partial<NonNullable<AddHumanUserRequest['profile']>> = {},
      email = newAddress(),
      organizationId?: string,
    ) {
      const names = { firstName: 'Gigi', lastName: 'Giraffe', preferredLanguage: '', gender: Gender.GENDER_UNSPECIFIED }
      const request = { userName: email, profile: { ...names, ...profile }, email: { email } }
      const { userId } = await ask(UserServiceDefinition.methods.addHumanUser, request, undefined, organizationId)
      return { userId, email }
    },
    addWebhook: (request: Partial<AddWebhookRequest>, organizationId?: string) =>
      ask(
        WebhookServiceDefinition.methods.addWebhook,
        { url: '', eventTypes: [], description: '', allOrganizations: false, ...request },
        WebhookServiceDefinition.fullName,
        organizationId,
      ),
    removeWebhook: (webhookId: string, organizationId?: string) =>
      ask(
        WebhookServiceDefinition.methods.removeWebhook,
        { webhookId },
        WebhookServiceDefinition.fullName,
        organizationId,
      ),
    /** Searches deliveries: oldest first, states by name. */
    async deliveries(request: Partial<SearchDeliveriesRequest>) {
      const everything = { kind: 0, state: 0, webhookId: '', userId: '', eventId: '', allOrganizations: false } as const
      const { deliveries } = await ask(
        DeliveryServiceDefinition.methods.searchDeliveries,
        { ...everything, limit: 1000, cursor: '', ...request },
        DeliveryServiceDefinition.fullName,
      )
      const named = (state: number) => Object.entries(states).find(([, number]) => number === state)![0]
      return deliveries.toReversed().map((delivery) => ({ ...delivery, state: named(delivery.state) }))
    },
    /** Searches mails as a caller of an organization, oldest first. */
    async mails(request: Partial<SearchMailsRequest>, organizationId?: string) {
      const all = { userId: '', userIds: [], state: 0, limit: 1000, cursor: '', ...request }
      const { searchMails } = MailServiceDefinition.methods
      const { mails } = await ask(searchMails, all, MailServiceDefinition.fullName, organizationId)
      return mails.toReversed()
    },
    /** Reports what a mail provider posts, as the gateway does: a body, or what becomes one. */
    report: (posted: object) => {
      const body = Buffer.isBuffer(posted) ? posted : Buffer.from(JSON.stringify(posted))
      return ask(NotifierInternal.methods.takeProviderReport, { body }, NotifierInternal.fullName)
    },
    /** Sends a test mail, by a call that may take `within` milliseconds. */
    testMail: (email: string, within: number) =>
      ask(MailServiceDefinition.methods.testMail, { email }, MailServiceDefinition.fullName, '', undefined, within),
    replayFailed: (webhookId: string, organizationId?: string) =>
      ask(
        DeliveryServiceDefinition.methods.replayFailedDeliveries,
        { webhookId },
        DeliveryServiceDefinition.fullName,
        organizationId,
      ),
    /** Waits until a notifier answers for its webhooks. */
    async webhooksAnswer() {
      for (;;) {
        const answer = await natsOfAdmin.connection
          .request('$SRV.PING.notifier', '', { timeout: 1000 })
          .catch(() => undefined)
        if (answer) return
        await sleep(20)
      }
    },
    /** Reads the address of a user from PostgreSQL. */
    async emailOf(userId: string): Promise<string> {
      const [row] = await sql<{ email: string }[]>`
        select email from found_addresses where user_id = ${userId}
      `
      return row!.email
    },
    verifyEmail: (userId: string, verificationCode: string) =>
      ask(UserServiceDefinition.methods.verifyEmail, { userId, verificationCode }),
    setEmail: (userId: string, email: string, caller?: Caller) =>
      ask(UserServiceDefinition.methods.setEmail, { userId, email }, undefined, undefined, caller),
    /** Waits until every connection to NATS is there again after NATS was away. */
    natsIsBack: () =>
      vi.waitFor(() => expect(nats.map((each) => each.connected())).not.toContain(false), { timeout: 20_000 }),
    call: () => ({ caller: anonymous, requestId: '', deadline: Date.now() + 2000 }),
    async deleteStream() {
      await (await natsOfAdmin.connection.jetstreamManager()).streams.delete(streamName)
    },
    /** Announces a mail without an event, as users does. */
    announce: (mail: Partial<MailWithoutEvent>) =>
      natsOfUsers.connection.publish(mailsWithoutEvent, JSON.stringify(mail)),
    /** Reads the data of the jobs in Redis. */
    async jobs(): Promise<string[]> {
      const keys = await redis.keys('roster:email-codes:????????-????-????-????-????????????')
      return Promise.all(keys.map(async (key) => (await redis.hget(key, 'data')) ?? ''))
    },
    /** Shifts the time of users, and that of the notifier's own tables. */
    async shiftClock(by: string) {
      await shiftClock(sql, by)
      await shiftClock(ledger, by)
    },
    /** Whether a file below the folder holds the text. */
    async grep(folder: string, text: string): Promise<boolean> {
      const files = await readdir(folder, { recursive: true, withFileTypes: true })
      const texts = files
        .filter((file) => file.isFile())
        .map((file) => readFile(join(file.parentPath, file.name), 'latin1'))
      return (await Promise.all(texts)).some((content) => content.includes(text))
    },
    /** Lists what happened to a user's codes, oldest first: requested, sent, or failed with the reason. */
    async codeEvents(userId: string): Promise<string[]> {
      const rows = await sql<StoredEvent[]>`
        select ${eventColumns(sql)} from events
        where aggregate_id = ${userId} and aggregate_type || '.' || type like 'user.email.code.%'
        order by events.position
      `
      const keys = encryptionKey.read(environment['ROSTER_ENCRYPTION_KEY']!)
      const events = await (await openPersonal(sql, ofUsers, keys)).decryptEvents(sql, rows)
      return events.map(({ aggregate_type, type, payload }) => {
        const what = `${aggregate_type}.${type}`.replace('user.email.code.', '')
        return [what, (payload as { failure?: string }).failure].filter(Boolean).join(': ')
      })
    },
    /** Lists the events of a user's codes by type, each with its own id and its cause's id. */
    async causes(userId: string): Promise<Record<string, { id: string; cause: string | null }>> {
      const rows = await sql<{ type: string; id: string; cause: string | null }[]>`
        select aggregate_type || '.' || type as type, 'users-' || position as id, cause from events
        where aggregate_id = ${userId} and aggregate_type || '.' || type like 'user.email.code.%'
      `
      return Object.fromEntries(rows.map(({ type, ...event }) => [type, event]))
    },
    async stop() {
      await stopNotifiers()
      await users?.stop()
      await keeper.stop()
      await Promise.all(nats.map(({ connection }) => connection.close()))
      redis.disconnect()
      await Promise.all([sql.end(), ledger.end()])
      await Promise.all([mail.pause(), servers.stop(), database.drop()])
    },
  }
}

/** Makes the caller who administers the instance, with this role. */
export function callerOf(role: string): Caller {
  return { ...anonymous, userId: 'admin-machine', organizationId: 'default', instanceRoles: [role] }
}

/** Makes an address that no other user of the test has. */
export function newAddress(): string {
  return `${randomUUID()}@example.com`
}
