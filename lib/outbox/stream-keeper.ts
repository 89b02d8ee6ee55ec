import { setTimeout as sleep } from 'node:timers/promises'
import {
  AckPolicy,
  DeliverPolicy,
  type ConsumerInfo,
  type JetStreamManager,
  type Msg,
  type StoredMsg,
  nanos,
  NatsError,
  RetentionPolicy,
  StorageType,
  type StoreCompression,
  type StreamInfo,
} from 'nats'
import type { Log } from '../log.ts'
import { isOlder } from '../health/old-server.ts'
import type { Nats } from '../nats/connect-nats.ts'
import type { Service } from '../process.ts'
import { checkpointSubject } from '../events/checkpoint-subject.ts'
import { consumers } from '../events/consumers.ts'
import { type Erasable, eraseSubject, lastOfSubject, nextOfSubject, removeAsked } from './erase-in-stream.ts'
import { consumerPending, consumerUnacknowledged, streamBytes } from '../events/measures.ts'
import { type LastMessage, type StreamState, stateSubject, streamName, withApi, writeState } from '../events/stream.ts'

/** Milliseconds between two checks without a request. */
const lookEvery = 2000
/**
 * nats-server may still remove the files of a stream for so many milliseconds after it says that the stream is gone. A
 * stream created at once would lose its files to that removal, and could store no event. On a slow disk the removal
 * takes longer: see `restoreFiles`.
 */
const goneFor = 2000
/** Milliseconds to wait until nats-server has removed events. */
const eraseWithin = 15_000

/** Milliseconds after which the servers of a cluster agree on the end of the stream. */
const settlesWithin = 1000

const nanosecondsPerMillisecond = 1_000_000

/**
 * Creates the stream and its consumers, now and whenever they are missing. Answers questions about the state of the
 * stream, and removes the events of an aggregate that came to its end. Of several keepers, one answers.
 */
export function startStreamKeeper({ nats, log, erasable, replicas, compression }: KeeperOptions): Service {
  const { connection } = nats
  let looking: Promise<StreamInfo> | undefined
  let next: Promise<StreamInfo> | undefined
  let known = false
  let consumersOf = ''
  let emptyBefore = ''
  let failure = ''
  let warned = false
  let size: number | undefined
  let infos: ConsumerInfo[] = []
  const infoOf = (consumer: string) => infos.find(({ name }) => name === consumer)
  const unwatch = [
    // The outboxes ask for the state before they publish again. The answer then comes from a whole look.
    nats.onDisconnect(() => (consumersOf = '')),
    streamBytes.watch(() => size),
    ...Object.keys(consumers).flatMap((name) => [
      consumerPending.watch(() => infoOf(name)?.num_pending, name),
      consumerUnacknowledged.watch(() => infoOf(name)?.num_ack_pending, name),
    ]),
  ]

  // However many ask, at most two looks exist: the one under way, and one more that begins after the question.
  function look(): Promise<StreamInfo> {
    if (!looking) return (looking = lookOnce().finally(() => (looking = undefined)))
    return (next ??= looking.then(lookNext, lookNext))
  }

  function lookNext() {
    next = undefined
    return look()
  }

  const lookOnce = () => withApi(lookBy)

  async function lookBy(apiPrefix: string): Promise<StreamInfo> {
    const manager = await connection.jetstreamManager({ apiPrefix, checkAPI: false })
    const wanted = { replicas, compression: possibleCompression() }
    let info = await ensureStream(manager, { wait: known ? goneFor : 0, ...wanted })
    known = true
    size = info.state.bytes
    if (info.created !== consumersOf) {
      infos = await ensureConsumers(manager)
      await ensureReplicas(manager, info, wanted.replicas)
      await ensureCompression(manager, info, wanted.compression)
      info = await passConsumers(manager, log)
      consumersOf = info.created
    }
    return info
  }

  /**
   * Restores the files of a stream that never had an event: nats-server may have deleted them with those of the deleted
   * stream of the same name. A purge creates the message store again, an update the stream's configuration. The purge
   * also removes an event that is stored at this moment; its outbox notices that, and publishes it again.
   */
  const restoreFiles = () =>
    withApi(async (apiPrefix) => {
      const manager = await connection.jetstreamManager({ apiPrefix, checkAPI: false })
      await manager.streams.purge(streamName)
      await manager.streams.update(streamName, {})
    })

  // The stream serves without it, too, so nothing waits for a newer NATS.
  function possibleCompression(): StreamCompression | undefined {
    const version = connection.info!.version
    if (compression !== 's2' || !isOlder(version, '2.10')) return compression
    if (!warned) log.warn({ version }, 'NATS_STREAM_COMPRESSION has no effect before NATS 2.10')
    warned = true
    return undefined
  }

  async function answer(message: Msg) {
    try {
      const state = stateOf(await look())
      const service = message.string()
      message.respond(writeState(service ? { ...state, own: await lastOf(service) } : state))
    } catch (error) {
      message.respond(writeState(error as Error))
      complain(error as Error)
    }
  }

  async function lastOf(service: string): Promise<LastMessage | null> {
    if (!/^[a-z]{1,50}$/.test(service)) throw new Error('this names no service')
    const found = await withApi(async (apiPrefix) => {
      const manager = await connection.jetstreamManager({ apiPrefix, checkAPI: false })
      const subject = `roster.events.${service}.>`
      let last = await lastOfSubject(manager, subject)
      while (last?.subject === checkpointSubject(service)) last = await lastBefore(manager, subject, last.seq)
      return last
    })
    return found ? { sequence: found.seq, id: found.header.get('ce-id') } : null
  }

  function complain(error: Error) {
    if (error.message !== failure) log.error({ err: error }, 'the keeper of the stream failed')
    failure = error.message
  }

  async function erase(message: Msg) {
    try {
      const removed = await withApi(async (apiPrefix) => {
        const manager = await connection.jetstreamManager({ apiPrefix, checkAPI: false, timeout: eraseWithin })
        return removeAsked(manager, message.subject, erasable)
      })
      message.respond(JSON.stringify(removed))
    } catch (error) {
      message.respond(JSON.stringify({ error: (error as Error).message }))
    }
  }

  const subscriptions = [
    { subject: stateSubject, react: answer },
    { subject: `${eraseSubject}.>`, react: erase },
  ].map(({ subject, react }) =>
    connection.subscribe(subject, {
      queue: 'keeper',
      callback: (error, message) => void (error ? complain(error) : react(message)),
    }),
  )
  async function lookAgain() {
    consumersOf = ''
    try {
      const { created, state } = await look()
      const isEmpty = state.last_seq === 0
      if (isEmpty && created === emptyBefore) await restoreFiles()
      emptyBefore = isEmpty ? created : ''
      failure = ''
    } catch (error) {
      complain(error as Error)
    }
  }
  const timer = setInterval(() => void lookAgain(), lookEvery)
  void lookAgain()
  return {
    async stop() {
      clearInterval(timer)
      for (const subscription of subscriptions) subscription.unsubscribe()
      for (const end of unwatch) end()
      await Promise.allSettled([looking, next])
    },
  }
}

export interface KeeperOptions {
  nats: Nats
  log: Log
  /** What the keeper removes when it is asked. Default: what is about a person. */
  erasable?: Erasable
  /** The servers that hold the stream. Without it: one for a new stream, and as many as there are for an existing one. */
  replicas?: number | undefined
  /** How NATS stores the stream; an existing one from the next start of NATS on. Without it: as it is, or not compressed. */
  compression?: StreamCompression | undefined
}

export type StreamCompression = `${StoreCompression}`

/** Creates the stream where it is missing, after `wait` milliseconds. Does not change an existing one. */
export async function ensureStream(
  manager: JetStreamManager,
  { wait = 0, replicas, compression }: { wait?: number } & Pick<KeeperOptions, 'replicas' | 'compression'> = {},
): Promise<StreamInfo> {
  return orMake(
    () => manager.streams.info(streamName),
    async () => {
      if (wait > 0) await sleep(wait)
      return manager.streams
        .add({
          name: streamName,
          subjects: ['roster.events.>'],
          retention: RetentionPolicy.Limits,
          storage: StorageType.File,
          max_age: nanos(30 * 24 * 60 * 60 * 1000),
          duplicate_window: nanos(2 * 60 * 1000),
          ...(replicas && { num_replicas: replicas }),
          ...(compression === 's2' && { compression: 's2' as StoreCompression }),
        })
        .catch((cause: Error) => {
          throw replicas && /replica|cluster|peer/i.test(cause.message) ? notSo(replicas, cause) : cause
        })
    },
  )
}

// One of two things that are ever changed on an existing stream. Its consumers follow it.
async function ensureReplicas(manager: JetStreamManager, { config, cluster }: StreamInfo, replicas?: number) {
  if (replicas === undefined || config.num_replicas === replicas) return
  // Such a server would note the number, and keep one copy. Since 2.12 it names a leader all the same.
  if (!cluster?.name) throw notSo(replicas, new Error('NATS is no cluster'))
  await manager.streams.update(streamName, { num_replicas: replicas }).catch((cause: Error) => {
    throw notSo(replicas, cause)
  })
}

async function ensureCompression(manager: JetStreamManager, { config }: StreamInfo, wanted?: StreamCompression) {
  if (wanted === undefined || (config.compression ?? 'none') === (wanted as StoreCompression)) return
  await manager.streams.update(streamName, { compression: wanted as StoreCompression })
}

function notSo(replicas: number, cause: Error): Error {
  return new Error(`NATS_STREAM_REPLICAS cannot be ${replicas}: ${cause.message}`, { cause })
}

/**
 * Lets the stream go on behind the last place that a consumer has read. A stream that lost its end, as by a power cut of
 * NATS, gives the lost places again, and a consumer that has read them would never get what comes there. This drops the
 * messages of the stream. So each outbox finds that its events are gone, and publishes anew those that have not expired.
 */
async function passConsumers(manager: JetStreamManager, log: Log): Promise<StreamInfo> {
  for (let tries = 1; ; tries++) {
    // Read before the stream, so that what comes meanwhile is no sign of a loss.
    const read = await lastRead(manager)
    const info = await manager.streams.info(streamName)
    if (read <= info.state.last_seq) return info
    // In a cluster, two servers may know the end of the stream a moment apart.
    if (tries === 1) await sleep(settlesWithin)
    else {
      log.warn(
        { read, last: info.state.last_seq },
        'the stream lost events that consumers have read: it goes on behind them',
      )
      await manager.streams.purge(streamName, { seq: read + 1 })
    }
  }
}

async function lastRead(manager: JetStreamManager): Promise<number> {
  let read = 0
  try {
    for await (const { delivered } of manager.consumers.list(streamName))
      if (delivered.consumer_seq > 0) read = Math.max(read, delivered.stream_seq)
  } catch (error) {
    // The nats.conf of a former release lets no keeper ask.
    if (!(error instanceof NatsError) || error.code !== '503') throw error
  }
  return read
}

function ensureConsumers(manager: JetStreamManager): Promise<ConsumerInfo[]> {
  return Promise.all(Object.entries(consumers).map(([name, filter]) => ensureConsumer(manager, name, filter)))
}

/**
 * Creates a durable consumer of these events, starting at the first event in the stream. Does not change an existing
 * one.
 */
export function ensureConsumer(manager: JetStreamManager, name: string, filter: string): Promise<ConsumerInfo> {
  return orMake(
    () => manager.consumers.info(streamName, name),
    () =>
      manager.consumers.add(streamName, {
        durable_name: name,
        filter_subject: filter,
        ack_policy: AckPolicy.Explicit,
        deliver_policy: DeliverPolicy.All,
        ack_wait: nanos(30_000),
      }),
  )
}

async function orMake<T>(find: () => Promise<T>, make: () => Promise<T>): Promise<T> {
  try {
    return await find()
  } catch (error) {
    if (!(error instanceof NatsError) || error.code !== '404') throw error
    return make()
  }
}

/** The last message of a subject before a place. Others may have stored millions in between, so it halves the way. */
async function lastBefore(manager: JetStreamManager, subject: string, place: number): Promise<StoredMsg | undefined> {
  let found: StoredMsg | undefined
  // Between these may be a later one than the one found.
  let [from, to] = [0, place]
  while (to - from > 1) {
    const middle = Math.floor((from + to) / 2)
    const next = await nextOfSubject(manager, subject, middle)
    if (next && next.seq < place) [found, from] = [next, next.seq]
    else to = middle
  }
  return found
}

function stateOf({ created, state, config }: StreamInfo): StreamState {
  return {
    created,
    first: state.first_seq,
    last: state.last_seq,
    maxAge: config.max_age > 0 ? config.max_age / nanosecondsPerMillisecond : Infinity,
    bounded: [config.max_msgs, config.max_bytes, config.max_msgs_per_subject].some((limit) => limit > 0),
  }
}
