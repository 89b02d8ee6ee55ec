import type { KeyObject } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '../database/database.ts'
import type { Personal } from '../encryption/personal.ts'
import type { Log } from '../log.ts'
import type { Service } from '../process.ts'
import { isBesideFormer } from './releases.ts'
import type { AggregateKey } from '../eventstore/aggregate.ts'
import { createFieldEncryption } from '../eventstore/field-encryption.ts'
import { loadFolded } from '../eventstore/load-folded.ts'
import type { Vocabulary } from '../eventstore/vocabulary.ts'

const portion = 200
/** Milliseconds between two looks whether the former release is still there, or is back. */
const lookEvery = 5000

/**
 * Stores again, while the service answers already, what a former release folded with less state than this one knows:
 * once after the start, and whenever the replicas of that release have ended. Until then each load folds it again.
 * Several replicas may do it at once.
 */
export function startRefolding(sql: Sql, vocabulary: Vocabulary, personal: Personal | undefined, log: Log): Service {
  const stopping = new AbortController()
  const { signal } = stopping
  const work = async () => {
    for (let isDue = true; !signal.aborted; await sleep(lookEvery, undefined, { signal }).catch(() => {}))
      try {
        if (await isBesideFormer(sql)) isDue = true
        else if (isDue) {
          await refold(sql, vocabulary, personal, signal)
          isDue = false
        }
      } catch (error) {
        isDue = true
        log.warn({ err: error }, 'not all aggregates of the former release are folded again: it is tried again')
      }
  }
  const working = vocabulary.folds ? work() : undefined
  return {
    async stop() {
      stopping.abort()
      await working
    },
  }
}

/** Does it once. What cannot be folded stays as it is. */
export async function refold(
  sql: Sql,
  vocabulary: Vocabulary,
  personal: Personal | undefined,
  stopped?: AbortSignal,
): Promise<void> {
  for (const [type, fold] of Object.entries(vocabulary.folds ?? {}))
    for (let last = ''; ;) {
      if (stopped?.aborted) return
      const keys = await sql<AggregateKey[]>`
        select type, id from aggregates where type = ${type} and id > ${last} and coalesce(fold, 0) < ${fold}
        order by id limit ${portion}
      `
      if (keys.length === 0) break
      last = keys.at(-1)!.id
      const subjects = new Map<string, KeyObject>()
      const loaded = await loadFolded(sql, keys, vocabulary, personal, subjects)
      const folded = loaded.filter(({ outdated, state }) => !outdated && state !== undefined)
      const encryption = personal && createFieldEncryption(personal, subjects)
      // The states of those who are erased are plain.
      encryption?.subjects([], folded)
      const rows = folded.map((aggregate) => {
        const { id, sequence } = aggregate
        return { id, sequence, state: encryption ? encryption.state(aggregate) : aggregate.state }
      })
      // A row that was written meanwhile has another sequence.
      await sql`
        update aggregates a set state = r.state, fold = ${fold}
        from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (id text, sequence bigint, state jsonb)
        where a.type = ${type} and a.id = r.id and a.sequence = r.sequence and coalesce(a.fold, 0) < ${fold}
      `
    }
}
