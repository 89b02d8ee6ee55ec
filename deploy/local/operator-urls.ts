import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Home } from './home.ts'

/** Where the operator's command finds the servers, with its own passwords. */
export interface OperatorUrls {
  databaseUrl: string
  natsUrl: string | undefined
  redisUrl: string | undefined
  /** Opens what is personal. */
  personalKey?: string | undefined
}

/** Keeps the URLs for the command, where only this user reads them. */
export function keepOperatorUrls(home: Home, urls: OperatorUrls): void {
  writeFileSync(fileIn(home.dir), JSON.stringify(urls), { mode: 0o600 })
  chmodSync(fileIn(home.dir), 0o600)
}

/** The URLs of the last start in this folder; undefined if there was none. */
export function readOperatorUrls(dir: string): OperatorUrls | undefined {
  try {
    return JSON.parse(readFileSync(fileIn(dir), 'utf8')) as OperatorUrls
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function fileIn(dir: string): string {
  return join(dir, 'operator.json')
}
