import type { Sql } from '#lib/database/database'
import { missingParts } from '#lib/schema/schema-parts'
import type { StoringService } from '../../deploy/provision.ts'
import type { Finding } from './finding.ts'

/** Names each table, column, index and function that the migrations make and the schema of a service does not have. */
export async function checkSchema(sql: Sql, service: StoringService): Promise<Finding[]> {
  const migrations = new URL(`../../services/${service}/migrations/`, import.meta.url)
  const missing = await missingParts(sql, migrations)
  return missing.map((part) => ({ service, row: 'schema', problem: `it is missing: ${part}` }))
}
