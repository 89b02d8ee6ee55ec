import { execFile, type ExecFileOptions, execFileSync, spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import postgres from 'postgres'
import { freePort } from '../../deploy/local/ports.ts'
import { postgresPlace, type SystemUser } from '../../deploy/local/servers/postgres-user.ts'
import { onPath } from '../../deploy/local/servers/program.ts'

// Those of one version: /usr/bin has wrappers alone. npm's PostgreSQL lacks them.
const server = onPath('pg_basebackup')
const folderOf = (program: string) => execFileSync('realpath', [program], { encoding: 'utf8' }).trim()

/** The folder with PostgreSQL's server and all its tools, as in Debian's package `postgresql`; undefined without one. */
export const postgresTools = [onPath('initdb'), server]
  .flatMap((program) => (program === undefined ? [] : [dirname(folderOf(program))]))
  .find((folder) => ['postgres', 'initdb', 'pg_ctl', 'pg_dump'].every((name) => existsSync(join(folder, name))))

/** A PostgreSQL with a folder of its own, which a test may lose and restore. */
export interface Cluster {
  /** The administrator's URL of a database `roster`, which may not be there. */
  url: string
  port: number
  data: string
  /** Where everybody may write: PostgreSQL runs as another user than root. */
  folder: string
  /** Ends it at once, and loses its files. */
  lose(): void
  /** Starts it, and waits until it takes writes. */
  start(): Promise<void>
  /** As by kill -9. */
  kill(): Promise<unknown>
  stop(): Promise<void>
  /** Runs lines of a shell as PostgreSQL's user, as `runLines`. */
  shell(lines: string, env?: Record<string, string>): Promise<string>
}

/** Makes one, and starts it with these further lines of its configuration. */
export async function startCluster(settings = ''): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'roster-cluster-'))
  chmodSync(folder, 0o755)
  const { user } = postgresPlace(folder, 'tools')
  if (user) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const port = await freePort(0)
  const url = `postgres://postgres:secret@127.0.0.1:${port}/roster`
  const run = runAs(user, folder)
  const end = () =>
    spawnSync(join(postgresTools!, 'pg_ctl'), ['-D', data, '-m', 'immediate', 'stop'], { cwd: '/', ...user })
  const cluster: Cluster = {
    url,
    port,
    data,
    folder,
    lose() {
      end()
      rmSync(data, { recursive: true, force: true })
    },
    async start() {
      await run(`pg_ctl -D ${data} -w -t 120 -l ${folder}/log start`)
      await takesWrites(url)
    },
    kill: () => run(`kill -9 $(head -1 ${data}/postmaster.pid)`),
    async stop() {
      end()
      rmSync(folder, { recursive: true })
    },
    shell: run,
  }
  writeFileSync(join(folder, 'password'), 'secret', { mode: 0o644 })
  await run(`initdb -D ${data} -U postgres --auth=scram-sha-256 --pwfile=${folder}/password --encoding=UTF8 --locale=C`)
  appendFileSync(
    join(data, 'postgresql.conf'),
    `port = ${port}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = ''\nmax_connections = 300\n${settings}\n`,
  )
  await cluster.start()
  return cluster
}

/** A folder of the cluster's user. */
export function folderIn({ folder }: Cluster, name: string): string {
  const path = join(folder, name)
  mkdirSync(path)
  chmodSync(path, 0o777)
  return path
}

function runAs(user: SystemUser | undefined, folder: string) {
  return (lines: string, env: Record<string, string> = {}) => {
    const own = { PATH: `${postgresTools}:${process.env['PATH']}`, LC_ALL: 'C', TZ: 'UTC' }
    return runLines(lines, { cwd: folder, env: { ...own, ...env }, ...user })
  }
}

/** Runs lines of a shell until one fails, and returns their output. Rejects with what they wrote where one failed. */
export async function runLines(lines: string, options: ExecFileOptions): Promise<string> {
  const all = { ...options, maxBuffer: 100_000_000 }
  try {
    return String((await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', lines], all)).stdout)
  } catch (error) {
    const { message, stdout } = error as Error & { stdout: string }
    throw new Error(`${message}\n${stdout}`, { cause: error })
  }
}

async function takesWrites(url: string): Promise<void> {
  const sql = postgres(url.replace(/roster$/, 'postgres'), { max: 1, onnotice: () => {} })
  try {
    while ((await sql`select pg_is_in_recovery() as recovers`)[0]!['recovers']) await sleep(50)
  } finally {
    await sql.end({ timeout: 1 })
  }
}
