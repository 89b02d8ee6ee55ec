import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { askReadiness } from '../ask-readiness.ts'
import { daemon, tailOf, type Daemon } from './daemon.ts'
import { projectRoot } from './home.ts'
import {
  certificateOf,
  serviceEnvironment,
  type ServiceName,
  serviceNames,
  type ServicesOptions,
} from './service-environment.ts'
import type { Servers } from './servers.ts'
import { keepAlive } from './supervise.ts'

/** Flags of a service's Node, the same as in deploy/Dockerfile. */
export const nodeFlags = [
  '--enable-source-maps',
  '--expose-gc',
  '--max-semi-space-size=16',
  '--heap-growing-percent=60',
  '--no-allocation-site-pretenuring',
]

/** Settings of a service's C library, the same as in deploy/Dockerfile. */
export const mallocEnvironment = { MALLOC_ARENA_MAX: '1' }

// Node keeps compiled code there: the next start takes a seventh less of the processors' time.
const compiled = join(projectRoot, 'node_modules/.cache/compiled')

/** The five running services. */
export interface Services {
  /** Where the gateway is reached from this machine. */
  url: string
  /** `kill` a service and the supervisor brings it back. */
  handles: Record<ServiceName, Daemon>
  /** SIGTERM to all, SIGKILL after 10 s. */
  stop(): Promise<void>
}

/**
 * Starts the five services as processes. Resolves when the gateway misses none of them, and says what one still waits
 * for. Rejects with the log of one that ended before.
 */
export async function startServices(servers: Servers, options: ServicesOptions): Promise<Services> {
  const { entry = defaultEntry, under = () => [], say = console.log, backoff = {} } = options
  const tls = certificateOf(options.env) !== undefined
  const handles = Object.fromEntries(
    serviceNames.map((name) => {
      const env = { NODE_COMPILE_CACHE: compiled, ...mallocEnvironment, ...serviceEnvironment(name, servers, options) }
      const [command, ...args] = [...under(name), process.execPath, ...nodeFlags, entry(name)]
      const spec = { name, kind: 'service', command, args, env, stopSignal: 'SIGTERM' } as const
      return [name, daemon(servers.home, { ...spec, ready: async () => true })]
    }),
  ) as Record<ServiceName, Daemon>
  const all = Object.values(handles)
  let keepers: { dismiss(): void }[] = []
  const stop = async () => {
    for (const keeper of keepers) keeper.dismiss()
    await Promise.all(all.map((service) => service.stop()))
  }
  try {
    await Promise.all(all.map((service) => service.start()))
    await firstReadiness(() => askReadiness(options.port, tls), all, say)
  } catch (error) {
    await stop()
    throw error
  }
  if (backoff !== 'off') keepers = all.map((service) => keepAlive(service, say, backoff))
  return { url: `${tls ? 'https' : 'http'}://127.0.0.1:${options.port}`, handles, stop }
}

/** Milliseconds for which a service that answers calls may still wait for something until the start goes on. */
const waitsWithin = 3000

async function firstReadiness(
  ask: () => ReturnType<typeof askReadiness>,
  services: Daemon[],
  say: (line: string) => void,
): Promise<void> {
  const deadline = Date.now() + 60_000
  let answersSince: number | undefined
  for (let last = 'no answer'; Date.now() < deadline; await sleep(50)) {
    const down = services.find((service) => service.pid === undefined)
    if (down) throw new Error(down.whyEnded())
    const answer = await ask().catch(() => undefined)
    if (answer) last = answer.report
    if (last.startsWith('{"status":"ok"')) return
    answersSince = answer?.status === 200 ? (answersSince ?? Date.now()) : undefined
    if (answersSince !== undefined && Date.now() - answersSince >= waitsWithin)
      return say(`Calls are answered, but a service waits: ${last}`)
    if (Date.now() > deadline - 100)
      throw new Error(
        `The gateway was not ready within a minute (${last}).\n${services.map((service) => tailOf(service.logFile, undefined, 5)).join('\n')}`,
      )
  }
}

function defaultEntry(name: ServiceName): string {
  return join(projectRoot, 'services', name, 'main.ts')
}
