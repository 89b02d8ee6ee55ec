import { randomBytes } from 'node:crypto'
import { roster } from '../../health/release.ts'
import type { Keyring } from '../../keys.ts'
import type { Sql } from '../database.ts'
import { sealedNote } from '../releases.ts'
import type { PersonalData } from './personal-data.ts'
import { createPersonal, type Personal, type SealingRow } from './personal.ts'
import { wrappedFor } from './subject-keys.ts'

const lock = 7_265_006

/**
 * Opens what a service stores of people. A database without any event, and without a former release, is sealed from
 * its first event on. Any other one goes on in plain until an operator has it sealed.
 */
export async function openPersonal(sql: Sql, data: PersonalData, keys: Keyring): Promise<Personal> {
  const secret = keys.seal(wrappedFor, randomBytes(32).toString('base64'))
  const row = await sql.begin(async (transaction) => {
    await transaction`select pg_advisory_xact_lock(hashtextextended(current_schema(), ${lock}))`
    const [known] = await transaction<SealingRow[]>`select phase, secret from sealing`
    if (known) return known
    const [{ isNew }] = await transaction<[{ isNew: boolean }]>`
      select not exists (select from events)
        and not exists (select from migrations where name like 'release %' and name not like ${`release ${roster.release} %`})
        as "isNew"
    `
    const phase = isNew ? 'on' : 'off'
    await transaction`insert into sealing (phase, secret) values (${phase}, ${secret})`
    if (isNew) await transaction`insert into migrations (name) values (${sealedNote}) on conflict do nothing`
    return { phase, secret } as const
  })
  return createPersonal(data, keys, row)
}
