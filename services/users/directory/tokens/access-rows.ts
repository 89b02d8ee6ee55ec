import type { ByFunction, FunctionCall } from '#lib/database/database'

/** A change of the tables of codes, access tokens and authorizations. Exactly one field is set. */
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

// A batch writes its rows in this order, whatever the order of its commands. So the end of an authorization also deletes
// the tokens that the same batch stored. A command after the end saw that end, and stores nothing that it would delete.
const functions: Record<keyof AccessRow, string> = {
  code: 'keep_codes',
  token: 'keep_tokens',
  authorization: 'keep_authorizations',
  over: 'drop_authorizations',
  ended: 'forget_authorizations',
}

/** The functions that write these rows are in functions.sql of the migrations. */
export function writeAccess(row: AccessRow): ByFunction {
  return { row, calls }
}

function calls(rows: AccessRow[]): FunctionCall[] {
  return Object.entries(functions).flatMap(([part, name]) => {
    const own = rows.flatMap((row) => row[part as keyof AccessRow] ?? [])
    return own.length > 0 ? [{ name, rows: own }] : []
  })
}
