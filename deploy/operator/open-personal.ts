import { randomBytes } from 'node:crypto'
import type { Sql } from '#lib/eventstore/database'
import { createPersonal, type Personal, type SealingRow } from '#lib/eventstore/personal/personal'
import type { PersonalData } from '#lib/eventstore/personal/personal-data'
import { encryptionKey } from '#lib/keys'
import { Refusal } from './refusal.ts'

/** Opens what a service stores of people. Undefined where it stores nothing of them sealed. */
export async function openPersonal(
  sql: Sql,
  data: PersonalData | undefined,
  key: string | undefined,
): Promise<Personal | undefined> {
  const [row] = data ? await sql<SealingRow[]>`select secret from sealing` : []
  if (!data || !row) return undefined
  if (key === undefined)
    throw new Refusal(
      'What is personal is stored sealed, and the command has no key: set ROSTER_OPERATOR_PERSONAL_KEY (docs/command.md).',
    )
  // A key of its own, which nothing was ever sealed with, stands in for the service's.
  const keys = encryptionKey.read([randomBytes(32).toString('base64'), key].join(','))
  return createPersonal(data, keys, row)
}
