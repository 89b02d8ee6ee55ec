import { createHash } from 'node:crypto'
import { personalInPlain } from '../encryption/personal.ts'
import { roster } from '../health/release.ts'
import type { Transaction } from '../database/database.ts'
import { describeSchema } from './describe-schema.ts'
import { checkReleases } from './releases.ts'

// 0.3 made its schemas by many files, step by step. The files of today make the same at once, so a database of 0.3 needs
// none of them, if it has all of those steps. The release after this one has no use for this file.

/** A file of 0.3 and of those before it, by which their databases are known. */
const formerFile = 'schema.sql'

/** By this row, 0.3 kept 0.2 from a database with encrypted fields. To 0.2 it looks like a release far away. */
const sealedNote = 'release 0.3000 after 0.3'

/** The files of today that stand for those of 0.3. */
export const filesOf03 = ['event-store/0001-event-store.sql', '0001-tables.sql']

/** SHA-256 of what `describeSchema` returns for the schemas of 0.3. A test compares them with the files of today. */
export const schemasOf03: Record<string, string> = {
  roster_users: '7e1299b786cca48e8c3760b4af4f61df0e2dbe881bc8c626fbca9a622fd9eb01',
  roster_grants: 'e04320967756de7dde203a4421f4d847553c16c3bb68538844e657ad269d88ea',
  roster_idp: '5e23a992de6be48542c965f2ed33459a5db6d5740c7879a4e315f423db9a84e0',
  roster_notifier: '29abc6cc9120633ca07d80b757179976306a6115966cbfecb7e4dc1da8e3df29',
}

/**
 * Takes a schema of 0.3 over: notes that the files of today are applied. Throws where the schema is another one, or has
 * data of people in plain. Does nothing to any other schema, and nothing a second time.
 */
export async function takeOver(transaction: Transaction, applied: Set<string>): Promise<void> {
  if (!applied.has(formerFile) || applied.has(filesOf03[0]!)) return
  applied.delete(sealedNote)
  // A release before 0.3 is refused with its own message.
  await checkReleases(transaction, applied)
  const [{ schema }] = await transaction<[{ schema: string }]>`select current_schema() as schema`
  if (hashOf(await describeSchema(transaction)) !== schemasOf03[schema])
    throw new Error(
      `Roster ${roster.version} cannot start, because the tables of ${schema} are not as 0.3.0 makes them: ` +
        'begin with a new database (docs/upgrading.md).',
    )
  if ((await transaction`select from sealing where phase <> 'on'`).length > 0) throw personalInPlain()
  await transaction`delete from migrations where name = ${sealedNote}`
  for (const name of filesOf03) {
    await transaction`insert into migrations (name) values (${name})`
    applied.add(name)
  }
}

/** The hash of a description. */
export function hashOf(lines: string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex')
}
