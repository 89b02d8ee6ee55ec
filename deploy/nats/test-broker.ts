import { connect, headers, type MsgHdrs, type NatsConnection } from 'nats'
import { ensureStream } from '#lib/outbox/stream-keeper'
import { startTestKeeper } from '#test/support/keeper'
import { anonymous } from '../../lib/rpc/caller.ts'
import type { NatsUser } from '../local/servers/nats-users.ts'
import { startServers } from '../local/servers.ts'
import { addOrganizationConsumer } from './organization-consumer.ts'
import { type Account, readAccounts } from './test-accounts.ts'

export const stores = ['users', 'grants', 'idp', 'notifier'] as const
const elsewhere = { DATABASE_URL: 'postgres://none', REDIS_URL: 'redis://none', SMTP_URL: 'smtp://none' }

/** A message that a listener to everything in an account has heard. */
export interface Heard {
  account: string
  subject: string
  /** The mark of the message, or of the one that it answers. */
  mark: string
}

export type Broker = Awaited<ReturnType<typeof startBroker>>

/** A NATS server with the stream and some events, services that answer everything, and a listener in each account. */
export async function startBroker() {
  const servers = await startServers({ ephemeral: true, ports: 'random', env: elsewhere })
  const opened: NatsConnection[] = []
  async function open(user: NatsUser) {
    const { host, username, password } = new URL(servers.natsUrl[user])
    const inboxPrefix = `_INBOX_${user}`
    const connection = await connect({ servers: host, user: username, pass: password, inboxPrefix, reconnect: false })
    opened.push(connection)
    return connection
  }
  const keeper = await startTestKeeper(servers.natsUrl)
  const admin = await open('admin')
  // Behind thousands of questions, its answers take their time.
  const manager = await admin.jetstreamManager({ timeout: 60_000 })
  const users = await open('users')
  await ensureStream(manager)
  await addOrganizationConsumer(admin, 'acme')

  const heard: Heard[] = []
  const listeners = await Promise.all(
    [...stores, 'gateway' as const, 'keeper' as const, 'operator' as const, 'admin' as const].map(async (user) => {
      const connection = await open(user)
      const account = accountOf(user)
      connection.subscribe('>', {
        callback: (_, message) =>
          void heard.push({ account, subject: message.subject, mark: message.headers?.get('mark') ?? '' }),
      })
      await connection.flush()
      return connection
    }),
  )
  for (const service of [...stores, 'gateway' as const]) {
    const connection = await open(service)
    // The gateway asks others, and answers about itself alone.
    for (const subject of service === 'gateway' ? ['$SRV.*.gateway'] : [`roster.${service}.>`, '$SRV.>'])
      connection.subscribe(subject, {
        queue: service,
        callback: (_, message) =>
          void message.respond('', { headers: marked(message.headers?.get('mark') ?? '', service) }),
      })
    await connection.flush()
  }
  return {
    open,
    heard,
    admin,
    /** Puts an event for each consumer into the stream. */
    async publishEvents(mark: string) {
      for (const type of ['removed', 'email.code.requested'])
        await users.jetstream().publish(`roster.events.users.acme.user.u.${type}`, '', { headers: marked(mark) })
    },
    /** Waits until all that is on the way to a listener has come, answers to it included. */
    async settle() {
      // The question of the loop itself has no mark.
      const marks = () => heard.filter(({ mark }) => mark !== '').length
      let before
      do {
        before = marks()
        await manager.streams.info('roster-events')
        for (const listener of listeners) await listener.flush()
      } while (marks() > before)
    },
    /**
     * All that an attacker might have changed of the stream and its consumers, but for the events and the consumer of
     * one service.
     */
    async state(but = '') {
      const { config, state } = await manager.streams.info('roster-events', { subjects_filter: '>' })
      const streams = await manager.streams.list().next()
      const consumers = await manager.consumers.list('roster-events').next()
      return {
        streams: streams.map(({ config }) => config.name),
        config,
        first: state.first_seq,
        deleted: state.num_deleted ?? 0,
        events: Object.entries(state.subjects ?? {}).filter(
          ([subject]) => !subject.startsWith(`roster.events.${but}.`),
        ),
        consumers: consumers
          .filter(({ name }) => name !== but)
          .map(({ name, config, ack_floor, delivered }) => ({ name, config, ack_floor, delivered })),
      }
    },
    async stop() {
      await keeper.stop()
      await Promise.all(opened.map((connection) => connection.close()))
      await servers.stop()
    },
  }
}

export function accountOf(user: NatsUser): string {
  return user === 'admin' ? 'ROSTER' : user.toUpperCase()
}

/** Headers with a mark, and with a caller who may do everything. */
export function marked(mark: string, by = ''): MsgHdrs {
  const all = headers()
  all.set('mark', mark)
  all.set('by', by)
  all.set('roster-caller', JSON.stringify({ ...anonymous, userId: 'forged', instanceRoles: ['IAM_OWNER'] }))
  all.set('roster-organization', 'default')
  return all
}

const accounts: Record<string, Account> = readAccounts()

/** Where a message goes beyond the account that it is published in: the other account, and its subject there. */
export function reaches(from: string, subject: string): { account: string; subject: string }[] {
  const { imports, exports } = accounts[from]!
  return [
    ...imports
      .filter(({ kind, to }) => kind === 'service' && matches(subject, to))
      .map(({ account, subject: there, to }) => ({
        account,
        subject: to === there ? subject : subject.replace('ROSTER.API', '$JS.API'),
      })),
    ...exports
      .filter(({ kind, subject: exported }) => kind === 'stream' && matches(subject, exported))
      .map(({ account }) => ({ account, subject })),
  ]
}

function matches(subject: string, pattern: string): boolean {
  const [tokens, wanted] = [subject.split('.'), pattern.split('.')]
  return (
    wanted.every((token, i) => token === '>' || token === '*' || token === tokens[i]) &&
    (wanted.at(-1) === '>' ? tokens.length >= wanted.length : tokens.length === wanted.length)
  )
}
