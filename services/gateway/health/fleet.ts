import { RequestStrategy } from 'nats'
import { fits, releaseOf, roster, unstated } from '#lib/health/release'
import { readWaits } from '#lib/health/waits'
import type { Nats } from '#lib/nats/connect-nats'

/** One process of a service, in its own words. */
export interface Replica {
  service: string
  /** The id of the process. */
  instance: string
  version: string
  /** The release before that one. */
  former?: string | undefined
  /** Whether it cannot answer calls yet. */
  starting: boolean
  /** Whether it sends no mail and nothing to webhooks. */
  drill: boolean
  deadLetters: number
  /** The stream has events that its database lacks. */
  streamIsAhead: boolean
  /** The servers that it waits for, each with the time since when, in RFC 3339. */
  waiting: Record<string, string>
}

/** Versions of a service that are shown. */
const mostVersions = 5

const listenFor = 1000
/** Milliseconds that a ready replica may answer later than one that starts. */
const patience = 50

/**
 * Asks the replicas of a service about themselves. Hands each answer to `onAnswer`. Resolves as soon as one of them can
 * answer calls, or it is clear that none can. Answers may still come after that. `onEnd` runs after the last one.
 */
export async function askReplicas(
  { connection }: Pick<Nats, 'connection'>,
  service: string,
  onAnswer: (replica: Replica) => void,
  onEnd: () => void,
): Promise<void> {
  const { promise: ready, resolve } = Promise.withResolvers<void>()
  const listen = async () => {
    const answers = await connection.requestMany(`$SRV.INFO.${service}`, '', {
      strategy: RequestStrategy.Timer,
      maxWait: listenFor,
    })
    for await (const answer of answers) {
      // The server itself answers like this where no service listens.
      if (answer.headers?.code === 503) break
      const replica = readReplica(service, answer.string())
      onAnswer(replica)
      if (replica.starting) setTimeout(resolve, patience)
      else resolve()
    }
  }
  void listen()
    .catch(() => {})
    .then(onEnd)
    .then(resolve)
  await ready
}

// A service lists all its endpoints, and nothing of them counts here. A service that was taken over may answer
// anything. Its words must not fill the log, nor the answers of `/readyz`.
function readReplica(service: string, info: string): Replica {
  const read = (name: string, pattern: string) => new RegExp(`"${name}":"(${pattern})"`).exec(info)?.[1]
  return {
    service,
    instance: read('instance', '[\\w-]{1,50}') ?? read('id', '\\w{1,50}') ?? '',
    version: read('version', '\\d+\\.\\d+\\.\\d+[\\w.-]{0,20}') ?? unstated,
    former: read('former', '\\d+\\.\\d+'),
    starting: read('starting', 'true') !== undefined,
    drill: read('drill', 'true') !== undefined,
    deadLetters: Number(read('parked', '\\d{1,15}') ?? 0),
    streamIsAhead: read('ahead', 'true') !== undefined,
    waiting: readWaits(read('waiting', '[\\w:., -]{1,300}') ?? ''),
  }
}

/** The first replica whose version must not work beside this one. */
export function findMisfit(replicas: Replica[]): Replica | undefined {
  return replicas.find(({ version, former }) => !fits({ release: releaseOf(version), former }))
}

/** The versions that run, by service. */
export function versionsOf(replicas: Replica[]): Record<string, string[]> {
  const versions: Record<string, string[]> = {}
  const all = [{ service: 'gateway', version: roster.version }, ...replicas]
  for (const [service, some] of Object.entries(Object.groupBy(all, ({ service }) => service)))
    versions[service] = [...new Set(some!.map(({ version }) => version))].toSorted().slice(0, mostVersions)
  return versions
}
