import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Example } from './register.ts'

/**
 * The secret of an example that ran before, as Roster shows it once only. So a second one beside the first needs no new
 * secret, which would end the first one's.
 */
export function readSecret(folder: string, issuer: string, which: Example['which']): string {
  try {
    const kept = JSON.parse(readFileSync(fileIn(folder, which), 'utf8')) as Pick<Example, 'issuer' | 'clientSecret'>
    return kept.issuer === issuer ? kept.clientSecret : ''
  } catch {
    return ''
  }
}

export function keepSecret(folder: string, issuer: string, { which, clientSecret }: Example): void {
  writeFileSync(fileIn(folder, which), JSON.stringify({ issuer, clientSecret }), { mode: 0o600 })
}

function fileIn(folder: string, which: Example['which']): string {
  return join(folder, `example-${which}.json`)
}
