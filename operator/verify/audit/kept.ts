import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type AuditKey, readCheckpoint, type SignedCheckpoint } from '#lib/audit-log/checkpoint'
import { storingServices, type StoringService } from '../../../deploy/provision.ts'
import { orRefuse, textOf } from '../../read-files.ts'
import { Refusal } from '../../refusal.ts'
import type { Finding } from '../finding.ts'

/** What was kept elsewhere, by the service that was asked for it. */
export interface Kept {
  keys: Map<StoringService, AuditKey[]>
  /** Checkpoints by service and number. */
  checkpoints: Map<StoringService, Map<number, SignedCheckpoint>>
  /** What does not fit. */
  found: Finding[]
}

/** Returns the keys that may sign for a service. */
export type TrustedKeys = (service: StoringService) => AuditKey[]

type Line = Record<string, unknown>

/**
 * Reads what `checkpoints` wrote, from a file or from all files of a folder. What a service says itself decides nothing:
 * a line counts for the service that was asked.
 */
export function readKept(path: string): Kept {
  const kept: Kept = { keys: new Map(), checkpoints: new Map(), found: [] }
  for (const file of filesOf(path))
    for (const line of linesOf(file)) {
      if (line['kind'] === 'key') addKey(kept.keys, line, file)
      if (line['kind'] === 'checkpoint') addCheckpoint(kept, line, file)
    }
  if (kept.checkpoints.size === 0 && kept.found.length === 0) throw new Refusal(`${path} has no checkpoint.`)
  return kept
}

function addCheckpoint({ checkpoints, found }: Kept, line: Line, file: string): void {
  const service = serviceOf(line, file)
  const ofService = checkpoints.get(service) ?? new Map<number, SignedCheckpoint>()
  try {
    const signed = readCheckpoint(String(line['jws']))
    const { number, service: named } = signed.checkpoint
    if (named !== service) throw new Error('it names another service')
    if (number !== line['number']) throw new Error('it has another number')
    if ((ofService.get(number)?.jws ?? signed.jws) !== signed.jws)
      throw new Error('two of this number were kept, and they differ')
    checkpoints.set(service, ofService.set(number, signed))
  } catch (error) {
    const row = `kept checkpoint number=${Number(line['number'])}`
    found.push({ service, row, problem: (error as Error).message })
  }
}

/** Reads public keys: the JSON Web Key Set of all services, or what `checkpoints` wrote. Each key is one service's. */
export function readKeys(file: string): TrustedKeys {
  const keys: Kept['keys'] = new Map()
  if (textOf(file).trimStart().startsWith('{"kind"')) {
    for (const line of linesOf(file)) if (line['kind'] === 'key') addKey(keys, line, file)
  } else {
    const set = orRefuse(file, () => (JSON.parse(textOf(file)) as { keys?: unknown } | null)?.keys)
    // A key that signs for one service may not sign for another, so a set that does not distinguish them is of no use.
    for (const key of Array.isArray(set) ? set : []) addKey(keys, { service: key?.service, key }, file)
  }
  if (keys.size === 0) throw new Refusal(`${file} has no public key.`)
  return (service) => keys.get(service) ?? []
}

function addKey(keys: Kept['keys'], line: Line, file: string): void {
  const service = serviceOf(line, file)
  const key = line['key'] as AuditKey | undefined
  if (typeof key?.kid !== 'string' || typeof key.x !== 'string') throw new Refusal(`${file}: a public key is none.`)
  keys.set(service, [...(keys.get(service) ?? []), key])
}

function serviceOf({ service }: Line, file: string): StoringService {
  const known = storingServices.find((name) => name === service)
  if (!known) throw new Refusal(`${file}: a line or key names no service.`)
  return known
}

function filesOf(path: string): string[] {
  return orRefuse(path, () => {
    if (!statSync(path).isDirectory()) return [path]
    const all = readdirSync(path)
      .sort()
      .map((name) => join(path, name))
    return all.filter((file) => statSync(file).isFile())
  })
}

function linesOf(file: string): Line[] {
  const lines = textOf(file).split('\n')
  return orRefuse(file, () => lines.flatMap((line) => (line.trim() === '' ? [] : [JSON.parse(line) as Line])))
}
