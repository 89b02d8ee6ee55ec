import { hash } from 'node:crypto'
import { type AuditedRow, canonicalJson, canonicalRow } from './canonical-row.ts'

/** The place of an event in the order of commits. */
export interface ChainPlace {
  transactionId: string
  position: string
}

/** How far a chain goes. */
export interface ChainEnd extends ChainPlace {
  epoch: number
  page: number
  /** Events of the epoch. */
  events: number
  /** The hash of the last page; empty before the first one. */
  hash: string
}

/** What a page says. Its hash is that of this as JSON by RFC 8785. */
export interface PageHeader {
  service: string
  epoch: number
  page: number
  /** The hash of the page before it. */
  previous: string
  first: ChainPlace
  last: ChainPlace
  /** Events of the epoch up to here. */
  events: number
  /** The hash of the entries. */
  entries: string
}

/** A page of the hash chain: some events that follow each other. */
export interface Page {
  header: PageHeader
  headerText: string
  /** Hex. */
  hash: string
  entries: Buffer
}

/** A position and a hash. */
const entryBytes = 8 + 32

/** Makes the next page. The salt is a random text for this page alone. */
export function makePage(service: string, end: ChainEnd, rows: AuditedRow[], salt: string): Page {
  const entries = Buffer.alloc(rows.length * entryBytes)
  for (const [index, row] of rows.entries()) {
    entries.writeBigUInt64BE(BigInt(row.position), index * entryBytes)
    entries.write(rowHash(rowKey(salt, row.position), row), index * entryBytes + 8, 'hex')
  }
  const header = {
    service,
    epoch: end.epoch,
    page: end.page + 1,
    previous: end.hash,
    first: placeOf(rows[0]!),
    last: placeOf(rows.at(-1)!),
    events: end.events + rows.length,
    entries: hash('sha256', entries),
  }
  const headerText = canonicalJson(header)
  return { header, headerText, hash: hash('sha256', headerText), entries }
}

/** The key of an event in a page. Who has it alone can try out what that event says, and no other one of the page. */
export function rowKey(salt: string, position: string): string {
  return hash('sha256', `${salt}.${position}`)
}

/** The hash of an event, in hex. */
export function rowHash(key: string, row: AuditedRow): string {
  return hash('sha256', `${key}.${canonicalRow(row)}`)
}

/** The entries of a page: the hash of each event by its position, in the order of commits. */
export function readEntries(entries: Buffer): Map<string, string> {
  const read = new Map<string, string>()
  for (let at = 0; at + entryBytes <= entries.length; at += entryBytes)
    read.set(String(entries.readBigUInt64BE(at)), entries.toString('hex', at + 8, at + entryBytes))
  return read
}

export function placeOf({ transaction_id, position }: Pick<AuditedRow, 'transaction_id' | 'position'>): ChainPlace {
  return { transactionId: transaction_id, position }
}

/** Whether a place comes before another one. */
export function isBefore(one: ChainPlace, other: ChainPlace): boolean {
  const [left, right] = [BigInt(one.transactionId), BigInt(other.transactionId)]
  return left < right || (left === right && BigInt(one.position) < BigInt(other.position))
}
