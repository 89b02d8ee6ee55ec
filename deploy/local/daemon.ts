import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Home } from './home.ts'
import { removePidFile, writePidFile } from './pid-files.ts'

/** How a server or service is run. */
export interface DaemonSpec {
  name: string
  kind: 'service' | 'server'
  command: string
  args: string[]
  env?: NodeJS.ProcessEnv
  uid?: number
  gid?: number
  /** Written to the process' standard input, then closed: secrets that must not show in `ps`. */
  input?: string
  stopSignal: NodeJS.Signals
  /** Asked again and again until it answers true; a rejection counts as "not yet". */
  ready: () => Promise<boolean>
  /** How often a start that ends before it is ready is tried anew, 200 ms apart. Default 0. */
  retries?: number
  beforeStart?: () => Promise<void>
  /** Delivers a signal that the process itself would not pass on (a container's client). */
  send?: (signal: NodeJS.Signals) => void
}

/** A process of ours that can be killed and brought back. */
export interface Daemon {
  readonly name: string
  /** Undefined while it is down. */
  readonly pid: number | undefined
  readonly logFile: string
  /** Why it ended before it was ready: its own sentence, or the last lines that it wrote since it was launched. */
  whyEnded(): string
  /** Resolves once it is ready; rejects with the end of its log when it dies before that. */
  start(): Promise<void>
  /** Sends a signal; for one that ends a process, resolves when it is gone. Default SIGKILL. */
  kill(signal?: NodeJS.Signals): Promise<void>
  /** Brings it up again on the same port and data, ending it first when it runs. */
  restart(): Promise<void>
  /** Ends it for good: its stop signal, then SIGKILL after `graceMs` (10 000). */
  stop(graceMs?: number): Promise<void>
  /** Called when it ends without `stop` or `restart` having asked for it. */
  onCrash(listener: (how: string) => void): void
}

export function daemon(home: Home, spec: DaemonSpec): Daemon {
  const logFile = home.log(spec.name)
  const listeners: ((how: string) => void)[] = []
  let child: ChildProcess | undefined
  let gone: Promise<void> = Promise.resolve()
  let wanted = false
  let ready = false
  /** Where the log of this launch begins: former ones wrote above. */
  let launchedAt = 0

  return {
    name: spec.name,
    get pid() {
      return child?.pid
    },
    logFile,
    whyEnded,
    start,
    kill,
    restart: async () => {
      await end(10_000)
      await start()
    },
    stop: end,
    onCrash: (listener) => void listeners.push(listener),
  }

  async function start(): Promise<void> {
    if (child !== undefined) return
    wanted = true
    const deadline = Date.now() + 60_000
    for (let attempt = 0; ; attempt++) {
      await spec.beforeStart?.()
      launch()
      ready = await becomesReady(deadline)
      if (ready) return
      if (!wanted) throw new Error(`${spec.name} was stopped while it started.`)
      if (attempt >= (spec.retries ?? 0)) throw new Error(whyEnded())
      await sleep(200)
    }
  }

  // False when it ended first.
  async function becomesReady(deadline: number): Promise<boolean> {
    const isUp = () => child !== undefined && wanted
    while (isUp()) {
      if ((await spec.ready().catch(() => false)) && isUp()) return true
      if (Date.now() > deadline) {
        await end(1_000)
        throw new Error(`${spec.name} was not ready within a minute. Its log: ${logFile}`)
      }
      await sleep(50)
    }
    return false
  }

  function launch(): void {
    const log = openSync(logFile, 'a', 0o600)
    launchedAt = fstatSync(log).size
    const { command, args, env, uid, gid } = spec
    // A session of its own: the terminal's Ctrl-C is for the supervisor, which stops all in order.
    const started = spawn(command, args, {
      detached: true,
      stdio: [spec.input === undefined ? 'ignore' : 'pipe', log, log],
      ...(env && { env }),
      ...(uid !== undefined && { uid, gid }),
    })
    closeSync(log)
    started.stdin?.on('error', () => {})
    started.stdin?.end(spec.input)
    ready = false
    child = started
    const { pid } = started
    if (pid !== undefined)
      writePidFile(home.run, { name: spec.name, kind: spec.kind, pid, stopSignal: spec.stopSignal })
    gone = new Promise((resolve) => {
      const ended = (how: string) => {
        if (child === started) child = undefined
        if (pid !== undefined) removePidFile(home.run, spec.name, pid)
        resolve()
        if (wanted && ready) for (const listener of listeners) listener(how)
      }
      started.once('exit', (code, signal) => ended(signal ?? `exit code ${code}`))
      started.once('error', (error) => ended(error.message))
    })
  }

  function whyEnded(): string {
    const said = readFileSync(logFile).subarray(launchedAt).toString().trimEnd().split('\n')
    const sentence = said.map(ownSentence).findLast((message) => message !== undefined)
    return sentence === undefined
      ? `${spec.name} ended before it was ready.\n${tailOf(logFile, said)}`
      : `${spec.name} does not start: ${sentence}`
  }

  async function kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    if (child === undefined) return
    if (spec.send) spec.send(signal)
    else child.kill(signal)
    if (['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGQUIT'].includes(signal)) await gone
  }

  async function end(graceMs = 10_000): Promise<void> {
    wanted = false
    if (child === undefined) return
    const force = setTimeout(() => void kill('SIGKILL'), graceMs)
    child.kill('SIGCONT')
    child.kill(spec.stopSignal)
    await gone
    clearTimeout(force)
  }
}

/** The last lines of a log, indented under its name. */
export function tailOf(file: string, lines = readFileSync(file, 'utf8').trimEnd().split('\n'), count = 20): string {
  return `The end of ${file}:\n${lines
    .slice(-count)
    .map((line) => `  ${line}`)
    .join('\n')}`
}

// What a service says as it ends: see lib/process.ts.
function ownSentence(line: string): string | undefined {
  try {
    const { msg, err } = JSON.parse(line) as { msg?: unknown; err?: { message?: string } }
    return msg === 'cannot start' ? err?.message : undefined
  } catch {
    return undefined
  }
}
