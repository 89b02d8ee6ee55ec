import type postgres from 'postgres'
import { refuseOld } from '../health/old-server.ts'

/** Throws OldServer where PostgreSQL is too old. */
export async function refuseOldPostgres(sql: Pick<postgres.Sql, 'unsafe'>): Promise<void> {
  const [row] = await sql.unsafe<[{ version: string }]>("select current_setting('server_version') as version")
  refuseOld('PostgreSQL', row.version)
}
