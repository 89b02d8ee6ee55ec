import { createHash } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** A user of this system, by number. */
export interface SystemUser {
  uid: number
  gid: number
}

/** The place of PostgreSQL's files and the user that it runs as: it refuses root, so root lends it another user. */
export interface PostgresPlace {
  folder: string
  user: SystemUser | undefined
}

/** Chooses user and folder; the folder lies under `home`, or in /var/lib where that user may not enter `home`. */
export function postgresPlace(home: string, major: string): PostgresPlace {
  const preferred = join(home, `postgres-${major}`)
  if (process.getuid?.() !== 0) {
    mkdirSync(preferred, { recursive: true, mode: 0o700 })
    return { folder: preferred, user: undefined }
  }
  const folder = mayEnter(home, unprivilegedUser()) ? preferred : elsewhere(home, major)
  // The data's owner stays its owner, though a better user may have come since.
  const user = existsSync(folder) ? ownerOf(folder) : unprivilegedUser()
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chownSync(folder, user.uid, user.gid)
  return { folder, user }
}

function unprivilegedUser(): SystemUser {
  const lines = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'))
  for (const name of ['postgres', 'nobody']) {
    const found = lines.find((fields) => fields[0] === name)
    if (found && Number(found[2]) > 0) return { uid: Number(found[2]), gid: Number(found[3]) }
  }
  throw new Error(
    'PostgreSQL refuses to run as root and this system has no user `postgres` or `nobody`: run as another user, or set DATABASE_URL.',
  )
}

function ownerOf(folder: string): SystemUser {
  const { uid, gid } = statSync(folder)
  return uid === 0 ? unprivilegedUser() : { uid, gid }
}

function mayEnter(folder: string, user: SystemUser): boolean {
  return spawnSync('/bin/sh', ['-c', 'cd "$0"', folder], { cwd: '/', stdio: 'ignore', ...user }).status === 0
}

function elsewhere(home: string, major: string): string {
  const parent = `/var/lib/roster-${createHash('sha256').update(home).digest('hex').slice(0, 8)}`
  mkdirSync(parent, { recursive: true, mode: 0o755 })
  return join(parent, `postgres-${major}`)
}
