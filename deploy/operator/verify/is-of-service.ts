import { isConnectionError } from '#lib/eventstore/database'
import { unreadable } from '../open-schema.ts'
import { TooLarge } from '../reading/too-large.ts'
import { Refusal } from '../refusal.ts'
import { Silence } from './silence.ts'

/**
 * Whether an error may come from what a service stored: anything but a refusal, and a server that does not answer. A
 * service that has the server end a connection is only one more reason to look at the others.
 */
export function isOfService(error: unknown): boolean {
  if (error instanceof Refusal) return false
  const code = String((error as { code?: unknown }).code)
  // A statement that took too long.
  if (code === '57014') return true
  return !isConnectionError(error) && !/^(08|28|53|57P)/.test(code)
}

/**
 * What to say of such an error: that nothing came, what is too large, or which table is not read, and why, or else
 * `otherwise`.
 */
export function problemOf(error: unknown, otherwise: string): string {
  const isTold =
    error instanceof Silence || error instanceof TooLarge || (error as { code?: unknown }).code === unreadable
  return isTold ? (error as Error).message : otherwise
}
