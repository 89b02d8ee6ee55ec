import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type AuditKey, readCheckpoint, type SignedCheckpoint } from '#lib/eventstore/audit/checkpoint'
import { Refusal } from '../../refusal.ts'

/** What was kept elsewhere. */
export interface Kept {
  keys: AuditKey[]
  /** Checkpoints by service and number. */
  checkpoints: Map<string, Map<number, SignedCheckpoint>>
}

/** Reads what `checkpoints` wrote, from a file or from all files of a folder. */
export function readKept(path: string): Kept {
  const kept: Kept = { keys: [], checkpoints: new Map() }
  for (const file of filesOf(path))
    for (const line of linesOf(file)) {
      if (line['kind'] === 'key') kept.keys.push(line['key'] as AuditKey)
      if (line['kind'] !== 'checkpoint') continue
      const signed = take(() => readCheckpoint(String(line['jws'])), file)
      const { service, number } = signed.checkpoint
      const ofService = kept.checkpoints.get(service) ?? new Map<number, SignedCheckpoint>()
      const same = ofService.get(number)
      if (same && same.jws !== signed.jws)
        throw new Refusal(`${file}: another checkpoint ${number} of ${service} was kept.`)
      kept.checkpoints.set(service, ofService.set(number, signed))
    }
  if (kept.checkpoints.size === 0) throw new Refusal(`${path} has no checkpoint.`)
  return kept
}

/** Reads public keys: a JSON Web Key Set, or what `checkpoints` wrote. */
export function readKeys(file: string): AuditKey[] {
  const text = take(() => readFileSync(file, 'utf8'), file)
  const keys = text.trimStart().startsWith('{"kind"')
    ? linesOf(file).flatMap((line) => (line['kind'] === 'key' ? [line['key'] as AuditKey] : []))
    : take(() => (JSON.parse(text) as { keys: AuditKey[] }).keys, file)
  if (!Array.isArray(keys) || keys.length === 0) throw new Refusal(`${file} has no public key.`)
  return keys
}

function filesOf(path: string): string[] {
  return take(() => {
    if (!statSync(path).isDirectory()) return [path]
    return readdirSync(path)
      .sort()
      .map((name) => join(path, name))
      .filter((file) => statSync(file).isFile())
  }, path)
}

function linesOf(file: string): Record<string, unknown>[] {
  return take(
    () => readFileSync(file, 'utf8').split('\n').flatMap((line) => (line.trim() ? [JSON.parse(line)] : [])), // prettier-ignore
    file,
  )
}

function take<T>(work: () => T, file: string): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof Refusal) throw error
    throw new Refusal(`${file}: ${(error as Error).message}`)
  }
}
