import { chmodSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openSecrets } from './secrets.ts'

/** Absolute path of the project's root. */
export const projectRoot = resolve(import.meta.dirname, '../..')

/** The folder that holds everything this machine keeps for Roster: data, logs, secrets, pid files. */
export interface Home {
  dir: string
  /** Where pid files live. */
  run: string
  /** Path of a process' log file; a log over 10 MiB is put aside once as `<name>.log.1`. */
  log(name: string): string
  /** A secret of that name, made at first use and kept. Letters and digits only, beginning with a letter. */
  secret(name: string): string
  /** 32 random bytes in base64, made at first use and kept. */
  key(name: string): string
}

/** Opens the folder, making what is missing. Default: `.roster` at the project's root. */
export function openHome(dir = join(projectRoot, '.roster')): Home {
  const home = resolve(dir)
  const run = join(home, 'run')
  const logs = join(home, 'log')
  for (const folder of [home, run, logs]) mkdirSync(folder, { recursive: true, mode: 0o711 })
  // PostgreSQL's own user has to pass through to its data; no other user may list it.
  chmodSync(home, 0o711)
  chmodSync(run, 0o700)
  chmodSync(logs, 0o700)
  const secrets = openSecrets(join(home, 'secrets.json'))
  return { dir: home, run, log: (name) => logFile(logs, name), ...secrets }
}

function logFile(folder: string, name: string): string {
  const file = join(folder, `${name}.log`)
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > 10 * 1024 * 1024) renameSync(file, `${file}.1`)
  return file
}
