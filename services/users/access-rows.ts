import type { ByFunction, FunctionCall } from '#lib/database/database'

/** A change of the tables of what lets somebody in: one of these. */
export interface AccessRow {
  /** A code for tokens: a row for `keep_codes`. */
  code?: object
  /** An access token: a row of `tokens`. */
  token?: object
  /** An authorization whose code was redeemed: a row of `authorizations`. */
  authorization?: object
  /** A session or a user whose authorizations end: a row for `drop_authorizations`. */
  over?: object
  /** An authorization that ended: its id. */
  ended?: { authorization_id: string }
}

// The rows of a batch are written in this order, whatever the order of its commands. So an end takes away what the same
// batch kept. What came after an end was decided after it, and so does not depend on what ended.
const functions: Record<keyof AccessRow, string> = {
  code: 'keep_codes',
  token: 'keep_tokens',
  authorization: 'keep_authorizations',
  over: 'drop_authorizations',
  ended: 'forget_authorizations',
}

export function writeAccess(row: AccessRow): ByFunction {
  return { row, calls }
}

function calls(rows: AccessRow[]): FunctionCall[] {
  return Object.entries(functions).flatMap(([part, name]) => {
    const own = rows.flatMap((row) => row[part as keyof AccessRow] ?? [])
    return own.length > 0 ? [{ name, rows: own }] : []
  })
}
