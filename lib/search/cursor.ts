import { createHash } from 'node:crypto'
import { invalid, type RosterError } from '../errors.ts'
import type { Keyring } from '../encryption/keys.ts'
import type { Call } from '../rpc/headers.ts'

/** A search as a cursor knows it: the cursor of one search fits no other. */
export interface Asked {
  /** The name of the rpc. */
  method: string
  request: Paging
  call: Pick<Call, 'organizationId'> & { caller: { userId: string }; deadline?: number }
}

/** The fields that every search has. All others are its filters and its order. */
export interface Paging {
  limit: number
  cursor: string
  withTotal: boolean
}

const purpose = 'search-cursor'

/** Encrypts the place of a row in the order of a search. */
export function writeCursor(keys: Keyring, asked: Asked, place: string[]): string {
  return keys.encrypt(purpose, JSON.stringify([digest(asked), ...place])).toString('base64url')
}

/**
 * The place in a cursor that an answer to the same search gave, with any limit; undefined for the first page.
 * INVALID_ARGUMENT CURSOR_INVALID.
 */
export function readCursor(keys: Keyring, asked: Asked): string[] | undefined {
  const { cursor } = asked.request
  if (cursor === '') return undefined
  let opened: string[]
  try {
    const encrypted = Buffer.from(cursor, 'base64url')
    // The decoder passes over what is no character of it.
    if (encrypted.toString('base64url') !== cursor) throw cursorInvalid()
    opened = JSON.parse(keys.decrypt(purpose, encrypted)) as string[]
  } catch {
    throw cursorInvalid()
  }
  const [search, ...place] = opened
  if (search !== digest(asked)) throw cursorInvalid()
  return place
}

/** The error for a cursor that no answer to this search gave to this caller. */
export function cursorInvalid(): RosterError {
  return invalid([{ field: 'cursor', description: 'is not a cursor from an answer to this search' }], 'CURSOR_INVALID')
}

function digest({ method, request, call }: Asked): string {
  const { limit: _limit, cursor: _cursor, withTotal: _withTotal, ...filters } = request
  const parts = [method, call.caller.userId, call.organizationId, filters]
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url')
}
