import { execFile } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** A server program wanted on this machine, and the places it can come from. */
export interface Wanted {
  program: string
  debianPackage: string
  image: string
  /** The environment variable that names a running one instead. */
  variable?: string
}

/** Where a program was found: a file to run, or an image for the Docker engine. */
export type Found = { path: string } | { image: string }

/**
 * Looks on the PATH, then for a Docker engine, then installs Debian's package. Rejects with one sentence that says
 * what to do.
 */
export async function findProgram(wanted: Wanted, say: (line: string) => void): Promise<Found> {
  const path = onPath(wanted.program)
  if (path !== undefined) return { path }
  if (await hasDockerEngine()) return { image: wanted.image }
  if (process.getuid?.() === 0 && onPath('apt-get') !== undefined) {
    say(`Installing ${wanted.debianPackage} with apt ...`)
    await aptInstall(wanted.debianPackage)
    const installed = onPath(wanted.program)
    if (installed !== undefined) return { path: installed }
  }
  throw new Error(
    `${wanted.program} is missing: install it (Debian and Ubuntu: sudo apt install ${wanted.debianPackage}), ${wanted.variable ? `start Docker, or set ${wanted.variable} to a running one` : 'or start Docker'}.`,
  )
}

/** The absolute path of a program, or undefined. System folders count even where a user's PATH leaves them out. */
export function onPath(program: string): string | undefined {
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    '/usr/local/bin',
    '/usr/local/sbin',
    '/usr/sbin',
    '/usr/bin',
    '/opt/homebrew/bin',
    ...debianPostgresFolders(),
  ]
  return folders
    .filter(Boolean)
    .map((folder) => join(folder, program))
    .find(isExecutable)
}

/** True when a Docker engine answers. */
export async function hasDockerEngine(): Promise<boolean> {
  if (onPath('docker') === undefined) return false
  return run('docker', ['version', '--format', '{{.Server.Version}}'], { timeout: 5_000 }).then(
    () => true,
    () => false,
  )
}

function debianPostgresFolders(): string[] {
  const base = '/usr/lib/postgresql'
  if (!existsSync(base)) return []
  const versions = readdirSync(base).map(Number).filter(Number.isFinite)
  return versions.toSorted((a, b) => b - a).map((version) => join(base, String(version), 'bin'))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

// Two test runs may want the same package at once: apt waits for its own lock.
async function aptInstall(debianPackage: string): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const options = ['-qq', '-y', '-o', 'DPkg::Lock::Timeout=120']
  const install = () => run('apt-get', [...options, 'install', '--no-install-recommends', debianPackage], { env })
  try {
    await install()
  } catch {
    await run('apt-get', [...options, 'update'], { env })
    await install()
  }
}
