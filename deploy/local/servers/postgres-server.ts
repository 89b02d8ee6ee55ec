import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import postgres from 'postgres'
import { containerSpec } from './container.ts'
import { daemon, type Daemon } from '../daemon.ts'
import type { Home } from '../home.ts'
import { findProgram } from './program.ts'
import { binariesFor, majorVersion, npmBinaries, runs } from './postgres-binaries.ts'
import { postgresPlace, type PostgresPlace } from './postgres-user.ts'

/** A PostgreSQL of ours on 127.0.0.1; `url` is its administrator's, with a database `roster` that may not exist yet. */
export async function startPostgres(
  home: Home,
  options: { port: number; ephemeral: boolean; say: (line: string) => void },
): Promise<{ url: string; server: Daemon }> {
  const password = home.secret('postgres')
  const url = `postgres://postgres:${password}@127.0.0.1:${options.port}/roster`
  const ready = () => answers(url.replace(/roster$/, 'postgres'))
  const bin = await localBinaries(home, options.say)
  const server = daemon(
    home,
    typeof bin === 'string'
      ? localSpec(home, bin, password, options, ready)
      : containerSpec(home, {
          name: 'postgres',
          image: bin.image,
          port: options.port,
          containerPort: 5432,
          data: '/var/lib/postgresql',
          env: { POSTGRES_PASSWORD: password },
          stopSignal: 'SIGINT',
          ready,
        }),
  )
  await server.start()
  return { url, server }
}

async function localBinaries(home: Home, say: (line: string) => void): Promise<string | { image: string }> {
  const npm = npmBinaries()
  if (npm !== undefined) {
    const bin = starts(npm) ? npm : binariesFor(undefined, npm, home.dir)
    if (starts(bin)) return bin
  }
  const found = await findProgram(
    { program: 'postgres', debianPackage: 'postgresql', image: 'postgres:18', variable: 'DATABASE_URL' },
    say,
  )
  return 'path' in found ? dirname(found.path) : found
}

// The whole probe is made later, as the user that it will run as: postgres shows root nothing but its version.
function starts(bin: string): boolean {
  return spawnSync(join(bin, 'postgres'), ['--version'], { stdio: 'ignore' }).status === 0
}

function localSpec(
  home: Home,
  npmBin: string,
  password: string,
  options: { port: number; ephemeral: boolean },
  ready: () => Promise<boolean>,
) {
  const place = postgresPlace(home.dir, majorVersion(npmBin))
  const bin = binariesFor(place.user, npmBin, dirname(place.folder))
  if (!runs(bin, place.user))
    throw new Error(`PostgreSQL in ${bin} does not run here: set DATABASE_URL to a running one.`)
  const data = join(place.folder, 'data')
  if (!existsSync(data)) initialize(bin, place, password, options.ephemeral)
  const settings = {
    port: options.port,
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: 300,
    log_min_messages: 'warning',
    // A failing statement may hold an address or a name.
    log_min_error_statement: 'panic',
    log_parameter_max_length_on_error: 0,
    // So may the detail of an error, such as that a name is taken.
    log_error_verbosity: 'terse',
    ...(options.ephemeral && { fsync: 'off', full_page_writes: 'off' }),
  }
  return {
    name: 'postgres',
    kind: 'server' as const,
    command: join(bin, 'postgres'),
    args: ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    env: { ...process.env, TZ: 'UTC', LC_ALL: 'C' },
    ...place.user,
    stopSignal: 'SIGINT' as const,
    ready,
    // After a kill -9 its children hold the shared memory for a moment more.
    retries: 50,
    beforeStart: async () => removeForeignLock(data),
  }
}

function initialize(bin: string, place: PostgresPlace, password: string, ephemeral: boolean): void {
  const { folder, user } = place
  const passwordFile = join(folder, 'password')
  const fresh = join(folder, 'data.new')
  rmSync(fresh, { recursive: true, force: true })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  if (user) chownSync(passwordFile, user.uid, user.gid)
  const args = ['-D', fresh, '-U', 'postgres', '--auth=scram-sha-256', `--pwfile=${passwordFile}`]
  args.push('--encoding=UTF8', '--locale=C', ...(ephemeral ? ['--no-sync'] : []))
  const env = { ...process.env, LC_ALL: 'C', TZ: 'UTC' }
  const made = spawnSync(join(bin, 'initdb'), args, { cwd: folder, env, encoding: 'utf8', ...user })
  rmSync(passwordFile)
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr.trim()}`)
  renameSync(fresh, join(folder, 'data'))
}

// PostgreSQL believes a lock whose process id now belongs to anything of the same user's.
function removeForeignLock(data: string): void {
  const lock = join(data, 'postmaster.pid')
  if (!existsSync(lock)) return
  const pid = readFileSync(lock, 'utf8').split('\n')[0] ?? ''
  const command = spawnSync('ps', ['-o', 'args=', '-p', pid], { encoding: 'utf8' })
  if (command.error === undefined && !command.stdout.includes('postgres')) rmSync(lock)
}

async function answers(url: string): Promise<boolean> {
  const sql = postgres(url, { max: 1, connect_timeout: 2, onnotice: () => {} })
  try {
    await sql`select 1`
    return true
  } catch (error) {
    // It is up. If the password does not fit the data, the first real connection will say so.
    return (error as { code?: string }).code === '28P01'
  } finally {
    await sql.end({ timeout: 1 })
  }
}
