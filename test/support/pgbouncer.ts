import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '../../deploy/local/ports.ts'
import { onPath } from '../../deploy/local/servers/program.ts'

/** Whether Debian's package `pgbouncer` is there. */
export const hasPgbouncer = onPath('pgbouncer') !== undefined

export interface Pgbouncer {
  /** The URL of the same role and database, by way of PgBouncer. */
  through(url: string): string
  /** Reads another mode. Clients that are connected keep their sessions. */
  change(settings: Settings): Promise<void>
  /** Kills it, and starts it again at the same port. */
  restart(settings: Settings): Promise<void>
  stop(): Promise<void>
}

interface Settings {
  mode: 'session' | 'transaction' | 'statement'
  /** Sessions for each role. */
  size?: number
  /** Further lines of its file. */
  more?: string
}

/** Starts a PgBouncer in front of the PostgreSQL of these URLs. */
export async function startPgbouncer(urls: string[], settings: Settings): Promise<Pgbouncer> {
  const folder = mkdtempSync(join(tmpdir(), 'roster-pgbouncer-'))
  chmodSync(folder, 0o755)
  const port = await freePort(0)
  const file = (name: string) => join(folder, name)
  const all = urls.map((url) => new URL(url))
  const write = (given: Settings) =>
    writeFileSync(file('pgbouncer.ini'), iniOf(all[0]!, { host: '127.0.0.1', port }, file('users.txt'), given))
  writeFileSync(file('users.txt'), usersOf(urls))
  write(settings)
  // It refuses root.
  const asOther = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
  const start = async () => {
    const child = spawn(onPath('pgbouncer')!, ['-q', file('pgbouncer.ini')], { cwd: '/', stdio: 'ignore', ...asOther })
    await answers(port, child)
    return child
  }
  const kill = async () => {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  let child = await start()
  return {
    through(url) {
      const way = new URL(url)
      way.host = `127.0.0.1:${port}`
      return way.href
    },
    async change(given) {
      write(given)
      child.kill('SIGHUP')
      await sleep(200)
    },
    async restart(given) {
      await kill()
      write(given)
      child = await start()
    },
    async stop() {
      await kill()
      rmSync(folder, { recursive: true })
    },
  }
}

/** The file of the users of these URLs. */
export function usersOf(urls: string[]): string {
  const users = urls.map((url) => new URL(url))
  return users.map(({ username, password }) => `"${username}" "${decodeURIComponent(password)}"\n`).join('')
}

/** The file of a PgBouncer before this server, which listens there and reads its users from a file. */
export function iniOf(
  server: URL,
  listen: { host: string; port: number },
  users: string,
  { mode, size = 100, more = '' }: Settings,
): string {
  return `[databases]
* = host=${server.hostname} port=${server.port}
[pgbouncer]
listen_addr = ${listen.host}
listen_port = ${listen.port}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = ${mode}
default_pool_size = ${size}
max_client_conn = 500
${more}
`
}

async function answers(port: number, child: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    if (child.exitCode !== null) throw new Error(`pgbouncer ended with ${child.exitCode}`)
    const socket = connect(port, '127.0.0.1')
    const isThere = await Promise.race([once(socket, 'connect').then(() => true), sleep(1000, false)]).catch(
      () => false,
    )
    socket.destroy()
    if (isThere) return
    await sleep(50)
  }
  throw new Error('pgbouncer does not listen')
}
