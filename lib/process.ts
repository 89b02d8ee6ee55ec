import { setTimeout as sleep } from 'node:timers/promises'
import { roster } from './health/release.ts'
import { type FindProblem, type HealthSettings, showHealth } from './health/show-health.ts'
import { createLog, type Log } from './log.ts'
import { logLines } from './log-lines.ts'
import { connectNats, type Nats } from './nats/connect-nats.ts'
import { startMeasuring } from './telemetry/instruments.ts'
import { measureProcess } from './telemetry/process-measures.ts'
import { watchServer } from './telemetry/servers.ts'
import { startTelemetry } from './telemetry/start.ts'
import { telemetry } from './telemetry/telemetry.ts'
import { readWanted } from './telemetry/wanted.ts'
import { throttled } from './throttled.ts'

/** A running service. `stop` refuses new work, finishes the work under way and closes all that the service opened. */
export interface Service {
  /** Why it can answer no calls now, although it has started and NATS is there. */
  problem?: FindProblem
  stop(): Promise<void>
}

/** The parts that a service starts with. */
export interface Parts<Config> {
  config: Config
  nats: Nats
  log: Log
}

const stopDeadline = 10_000
const startDeadline = 1000
const calmAfter = 3000
/** Milliseconds that a collector has for the last spans and metrics of a service that stops. */
const lastWordsWithin = 1500

/**
 * Runs a service as this process, with its own NATS connection. Its settings come from the environment; OpenTelemetry
 * has its own there.
 */
export function runService<Config extends { NATS_URL: string } & HealthSettings>(
  name: string,
  readConfig: () => Config,
  start: (parts: Parts<Config>) => Promise<Service>,
): void {
  const wanted = readWanted(process.env)
  const log = createLog(name, process.env.LOG_LEVEL, logLines, wanted.traces.length > 0)
  let nats: Nats | undefined
  let problem: FindProblem = () => {
    const waits = nats ? String(nats.waits) : 'NATS'
    return `${name} starts${waits && ` and waits for ${waits}`}`
  }
  runProcess(log, async () => {
    const config = readConfig()
    await showHealth(config, () => problem(), log)
    const endTelemetry = await startTelemetry(
      { name, version: roster.version },
      wanted,
      throttled(log, 'telemetry failed'),
    )
    measure(() => nats!)
    nats = await connectNats(config.NATS_URL, name, log)
    const service = await start({ config, nats, log })
    problem = () => (nats!.connected() ? service.problem?.() : `${name} cannot reach NATS`)
    return {
      async stop() {
        problem = () => `${name} stops`
        await service.stop()
        await nats!.connection.drain()
        await Promise.race([endTelemetry(), sleep(lastWordsWithin, undefined, { ref: false })])
      },
    }
  })
}

function measure(nats: () => Nats): void {
  if (!telemetry.meter) return
  startMeasuring(telemetry.meter)
  measureProcess()
  watchServer('nats', async () => {
    if (!nats().connected()) throw new Error('NATS is not connected')
    await nats().connection.flush()
  })
}

/**
 * Runs a service as a process: starts it, stops it on SIGTERM or SIGINT within ten seconds, and exits. A service that
 * still waits for a server at its start has nothing to finish, so it ends within a second. SIGHUP ends nothing.
 * Exit code 0 after a stop. Exit code 1 when the service cannot start, does not stop in time, or lets an error go
 * uncaught.
 */
function runProcess(log: Log, start: () => Promise<Service>): void {
  const fail = (message: string) => (error: unknown) => {
    log.fatal({ err: error }, message)
    process.exit(1)
  }
  process.on('uncaughtException', fail('uncaught exception'))
  process.on('unhandledRejection', fail('unhandled rejection'))
  const started = start()
  let running = false
  started.then(() => {
    running = true
    log.info({ version: roster.version }, 'ready')
    setTimeout(giveBackMemory, calmAfter).unref()
  }, fail('cannot start'))
  let stopping = false
  const stop = (signal: string) => {
    if (stopping) return
    stopping = true
    log.info({ signal }, 'stopping')
    setTimeout(() => fail('did not stop in time')(undefined), stopDeadline).unref()
    setTimeout(() => running || process.exit(0), startDeadline)
    started.then((service) => service.stop()).then(() => process.exit(0), fail('cannot stop'))
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // By custom it asks to read files again, which happens by itself: Node's default would end the process at once.
  process.on('SIGHUP', () => log.info('SIGHUP changes nothing: docs/settings.md says which files are read again'))
}

// A start leaves much garbage, and the heap that grew for it. Without calls V8 would keep both for ever: a third of the
// memory of an idle service. A collection of another flavor keeps the pages. Needs Node's flag --expose-gc.
function giveBackMemory(): void {
  globalThis.gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
