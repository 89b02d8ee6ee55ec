import { createHash } from 'node:crypto'
import type { IDPRoleRow } from '#gen/roster/idp/v1/idp_claims'
import { claimAt } from './claim-at.ts'

/** What names a row, also where its roles change: grants knows by it what the row gave. */
export function rowIdOf({ claim, value, projectId }: Omit<IDPRoleRow, 'roleKeys'>): string {
  return createHash('sha256')
    .update(JSON.stringify([claim, value, projectId]))
    .digest('base64url')
    .slice(0, 22)
}

/** A row as grants takes it. */
export function rowOf({ roleKeys, ...row }: IDPRoleRow) {
  return { rowId: rowIdOf(row), projectId: row.projectId, roleKeys }
}

/** The rows whose claim has their value: the text that it is, or one of its list. */
export function matchedRows(rows: readonly IDPRoleRow[], said: Record<string, unknown>): IDPRoleRow[] {
  return rows.filter(({ claim, value }) => {
    const found = claimAt(said, claim)
    return found === value || (Array.isArray(found) && found.includes(value))
  })
}
