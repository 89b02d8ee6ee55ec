import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Daemon } from './daemon.ts'
import { openHome, type Home } from './home.ts'
import { mailFolder, startMailbox, type Mailbox } from './mailbox/mailbox.ts'
import { startNats } from './servers/nats-server.ts'
import { givenNatsUrls, type NatsUser } from './servers/nats-users.ts'
import { freePort } from './ports.ts'
import { startPostgres } from './servers/postgres-server.ts'
import { startRedis } from './servers/redis-server.ts'
import { startWatchdog } from './watchdog.ts'

export interface ServersOptions {
  /**
   * The folder of data, logs and passwords. Default: `.roster` at the project's root, or a throwaway folder when
   * ephemeral.
   */
  dataDir?: string
  /** "fixed" (default): 15432, 14222, 16379, 1025, 8025 or the next free ones. "random": any free ones. */
  ports?: 'fixed' | 'random'
  /** For tests: nothing need outlive a power cut, and a throwaway folder goes away with `stop`. */
  ephemeral?: boolean
  /** May give DATABASE_URL, NATS_URL, REDIS_URL, SMTP_URL: a server given here is not started. Default: process.env. */
  env?: Record<string, string | undefined>
  /** Hears of slow steps, such as an installation. Default: the console. */
  say?: (line: string) => void
  /** Has the names of the servers that are not up yet. */
  waiting?: Set<string>
}

/** A server whose usual port another program holds. */
export interface Moved {
  name: string
  usual: number
  port: number
}

/** The servers that Roster stands on. A handle is undefined where the server was given by URL. */
export interface Servers {
  home: Home
  /** The administrator's; `provision` makes the services' own. */
  databaseUrl: string
  /** One per user of deploy/nats/nats.conf; of a given NATS_URL, see `givenNatsUrls`. */
  natsUrl: Record<NatsUser, string>
  redisUrl: string
  smtpUrl: string
  /** Undefined where SMTP_URL is given. */
  mailboxUrl: string | undefined
  postgres: Daemon | undefined
  nats: Daemon | undefined
  redis: Daemon | undefined
  mailbox: Mailbox | undefined
  moved: Moved[]
  /** Stops the servers that were started here. */
  stop(): Promise<void>
}

/**
 * Starts the servers that the environment does not name. When something is missing, it rejects with one sentence and
 * leaves nothing behind.
 */
export async function startServers(options: ServersOptions = {}): Promise<Servers> {
  const { ephemeral = false, say = console.log, env = process.env, waiting = new Set() } = options
  const throwaway = ephemeral && !options.dataDir ? mkdtempSync(join(tmpdir(), 'roster-')) : undefined
  if (throwaway) chmodSync(throwaway, 0o711)
  const home = openHome(throwaway ?? options.dataDir)
  const watchdog = startWatchdog(home.run, throwaway)
  const moved: Moved[] = []
  const portOf = async (name: string, usual: number) => {
    if (options.ports === 'random') return freePort(0)
    const port = await freePort(usual)
    if (port !== usual) moved.push({ name, usual, port })
    return port
  }
  const begun: { stop(): Promise<void> }[] = []

  const stop = async () => {
    await Promise.all(begun.splice(0).map((server) => server.stop()))
    watchdog.dismiss()
    if (throwaway) rmSync(throwaway, { recursive: true, force: true })
  }
  const start = async <T extends { stop(): Promise<void> } | { server: Daemon }>(
    name: string,
    url: string | undefined,
    begin: () => Promise<T>,
  ) => {
    if (url) return undefined
    waiting.add(name)
    const started = await begin()
    waiting.delete(name)
    begun.push('server' in started ? started.server : started)
    return started
  }
  const starting = [
    start('PostgreSQL', env['DATABASE_URL'], async () =>
      startPostgres(home, { port: await portOf('PostgreSQL', 15432), ephemeral, say }),
    ),
    start('NATS', env['NATS_URL'], async () => startNats(home, { port: await portOf('NATS', 14222), say })),
    start('Redis', env['REDIS_URL'], async () =>
      startRedis(home, { port: await portOf('Redis', 16379), ephemeral, say }),
    ),
    start('the mailbox', env['SMTP_URL'], async () =>
      startMailbox({
        folder: mailFolder(home.dir),
        smtpPort: await portOf('SMTP', 1025),
        httpPort: await portOf('the mailbox', 8025),
      }),
    ),
  ] as const
  const failed = (await Promise.allSettled(starting)).find((result) => result.status === 'rejected')
  if (failed) {
    await stop()
    throw failed.reason
  }
  const [postgres, nats, redis, mailbox] = await Promise.all(starting)
  return {
    home,
    databaseUrl: postgres?.url ?? env['DATABASE_URL']!,
    natsUrl: nats?.urls ?? givenNatsUrls(env['NATS_URL']!, env),
    redisUrl: redis?.url ?? env['REDIS_URL']!,
    smtpUrl: mailbox?.smtpUrl ?? env['SMTP_URL']!,
    mailboxUrl: mailbox?.url,
    postgres: postgres?.server,
    nats: nats?.server,
    redis: redis?.server,
    mailbox,
    moved,
    stop,
  }
}
