import { randomBytes } from 'node:crypto'
import type { Keyring } from '../../keys.ts'
import type { Sql } from '../database.ts'
import { personalInPlain } from '../take-over.ts'
import type { PersonalData } from './personal-data.ts'
import { createPersonal, type Personal, type SealingRow } from './personal.ts'
import { wrappedFor } from './subject-keys.ts'

/** Opens what a service stores of people: sealed from its first event on. Throws where there are events from before. */
export async function openPersonal(sql: Sql, data: PersonalData, keys: Keyring): Promise<Personal> {
  const secret = keys.seal(wrappedFor, randomBytes(32).toString('base64'))
  // Another replica may be faster. All go by the secret that is stored.
  await sql`
    insert into sealing (phase, secret) select 'on', ${secret} where not exists (select from events)
    on conflict do nothing
  `
  const [row] = await sql<SealingRow[]>`select secret from sealing`
  if (!row) throw personalInPlain()
  return createPersonal(data, keys, row)
}
