import { closeSilent } from './database/close-silent.ts'
import { openDatabase, type Sql, untilReachable } from './database/database.ts'
import { lookForStandby } from './database/look-for-standby.ts'
import { createFeed } from './subscriptions/feed.ts'
import { migrate } from './schema/migrate.ts'
import { keepAnswers } from './eventstore/idempotent-answers.ts'
import { proveSession } from './database/prove-session.ts'
import { watchSession } from './database/watch-session.ts'
import { keepRecentEvents } from './events/recent-events.ts'
import { createStore, type Store } from './eventstore/store.ts'
import { startOutbox, type OutboxOptions } from './outbox/start-outbox.ts'
import { createCheckpointList, type ListCheckpoints } from './audit-log/chain-rows.ts'
import { startChain } from './audit-log/start-chain.ts'
import { openPersonal } from './encryption/personal.ts'
import type { Personal } from './encryption/personal.ts'
import { refuseBesideFormer } from './schema/releases.ts'
import { startRefolding } from './schema/start-refolding.ts'
import { startRewrapping } from './encryption/rewrap-keys.ts'
import type { Vocabulary } from './eventstore/vocabulary.ts'
import type { ReloadedSetting } from './reloaded-setting.ts'
import { announceStart } from './rpc/micro-service.ts'
import type { Keyring } from './encryption/keys.ts'
import type { Log } from './log.ts'
import type { Parts, Service } from './process.ts'
import type { KeyObject } from 'node:crypto'
import { serve, type ServeOptions, type Served } from './rpc/serve.ts'
import { createCallerReader } from './rpc/signatures/verify-callers.ts'

/** The settings of every service with events. */
export interface StoringConfig {
  DATABASE_URL: string
  ROSTER_ENCRYPTION_KEY: Keyring
  ROSTER_CALLER_KEY: (log: Log) => ReloadedSetting<KeyObject[]>
  EVENT_MAX_BYTES: number
  CHECKPOINT_INTERVAL: number
}

/** The parts of a service with events. */
export interface StoringService<Config, Context> {
  /** Name of the NATS micro service, of its queue group, and of the source of its events. */
  name: string
  vocabulary: Vocabulary
  /** Whether it sends nothing out, and says so. */
  isDrill?: boolean
  callerChangedBy?: OutboxOptions['callerChangedBy']
  /** Updates old data, starts the work in the background, and makes the context of the operations. */
  open(parts: Opened<Config>): Promise<Running<Context>>
  owners?: ServeOptions<Context>['owners']
  rolesThere?: ServeOptions<Context>['rolesThere']
  /** The operations. `listEvents` is the service's feed of its own events. */
  services(listEvents: ReturnType<typeof createFeed>, listCheckpoints: ListCheckpoints): Served<Context>[]
}

/** The parts that `open` starts from. */
export interface Opened<Config> extends Parts<Config> {
  sql: Sql
  store: Store
  /** The service's feed of its own events. */
  feed: ReturnType<typeof createFeed>
  /** Where the vocabulary says that there is personal data. */
  personal: Personal | undefined
}

/** The parts that `open` started. */
export interface Running<Context> {
  context: Context
  /** These stop first: calls that wait for them are answered then. */
  waitedFor?: Stoppable[]
  /** These stop after the last answer. */
  background?: Stoppable[]
}

interface Stoppable {
  stop(): void | Promise<void>
}

/**
 * Starts a service with events: waits for its database, migrates the schema with the files in `migrations`, and
 * answers.
 */
export async function startStoringService<Config extends StoringConfig, Context>(
  service: StoringService<Config, Context>,
  migrations: URL,
  parts: Parts<Config>,
): Promise<Service> {
  const url = parts.config.DATABASE_URL
  const sql = openDatabase(url, service.name, parts.log)
  const starting = announceStart(parts.nats, service.name)
  await untilReachable(parts.nats.waits, () => proveSession(url, service.name))
  await migrate(sql, migrations, parts.log, service.vocabulary, parts.nats.waits)
  const running = await answerFrom(sql, service, parts)
  starting.stop()
  return running
}

/**
 * Answers over a database whose schema is up to date, and publishes its events. Operations may have connections of
 * their own, `asked`, so that long searches do not hold up the rest. A stop ends the connections of the operations.
 */
export async function answerFrom<Config extends StoringConfig, Context>(
  sql: Sql,
  {
    name,
    vocabulary,
    isDrill = false,
    callerChangedBy,
    open,
    owners,
    rolesThere,
    services,
  }: StoringService<Config, Context>,
  { config, nats, log }: Parts<Config>,
  asked = sql,
): Promise<Service> {
  const keys = config.ROSTER_ENCRYPTION_KEY
  const data = vocabulary.personal
  const personal = data && (await untilReachable(nats.waits, () => openPersonal(sql, data, keys)))
  const rewrapping = personal && startRewrapping(sql, keys, log)
  const refolding = startRefolding(sql, vocabulary, personal, log)
  const recent = keepRecentEvents()
  const outbox = startOutbox({
    service: name,
    sql,
    nats,
    log,
    recent,
    personal,
    ...(callerChangedBy && { callerChangedBy }),
  })
  const chain = startChain({
    service: name,
    sql,
    nats,
    log,
    keys,
    recent,
    checkpointEvery: config.CHECKPOINT_INTERVAL * 1000,
  })
  const pools = [...new Set([sql, asked])]
  const session = watchSession({ url: config.DATABASE_URL, service: name, log, waits: nats.waits, pools })
  const silence = closeSilent({
    url: config.DATABASE_URL,
    service: name,
    pools,
    ask: (own) => lookForStandby(own, nats.waits),
  })
  const answers = keepAnswers(asked, keys, log)
  const refusing = { refuseBesideFormer: () => refuseBesideFormer(asked) }
  const limits = { mostEventBytes: config.EVENT_MAX_BYTES, personal, ...refusing }
  const store = createStore(asked, vocabulary, log, outbox.committed, answers, limits)
  const feed = createFeed({ service: name, sql: asked, log, recent, personal })
  const {
    context,
    waitedFor = [],
    background = [],
  } = await open({
    config,
    nats,
    log,
    sql: asked,
    store,
    feed,
    personal,
  })
  const answering = await serve({
    name,
    nats,
    log,
    context,
    readCaller: createCallerReader(name, config.ROSTER_CALLER_KEY(log)),
    answers,
    deadLetters: outbox.deadLetters,
    streamIsAhead: outbox.streamIsAhead,
    refusal: session.refusal,
    isDrill,
    ...refusing,
    ...(owners && { owners }),
    ...(rolesThere && { rolesThere }),
    services: services(feed, createCheckpointList(asked)),
  })
  return {
    problem: () => session.refusal()?.message,
    async stop() {
      await stopAll(waitedFor)
      await answering.stop()
      answers.stop()
      await stopAll(background)
      await Promise.all([rewrapping?.stop(), refolding.stop()])
      await Promise.all([outbox.stop(), chain.stop(), session.stop(), silence.stop()])
      await asked.end()
    },
  }
}

async function stopAll(parts: Stoppable[]): Promise<void> {
  await Promise.all(parts.map(async (part) => part.stop()))
}
