import { invalid } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Method } from '#lib/rpc/methods'
import type { Header } from './header-reader.ts'

/**
 * The conditions of a write; a read has none. `Idempotency-Key` is 1 to 255 visible characters: the request has one
 * effect, however often it comes within 24 hours. `If-Match` is an ETag of an earlier answer, or `*`: the object must
 * still be as it was then. INVALID_ARGUMENT IDEMPOTENCY_KEY_MALFORMED, IF_MATCH_MALFORMED.
 */
export function readConditions(method: Method, header: Header): Pick<Call, 'idempotencyKey' | 'ifMatch'> {
  if (method.reads) return {}
  const idempotencyKey = header('idempotency-key')
  const ifMatch = header('if-match')
  return {
    ...(idempotencyKey !== undefined && { idempotencyKey: readKey(idempotencyKey) }),
    ...(ifMatch !== undefined && { ifMatch: readEntityTag(ifMatch) }),
  }
}

function readKey(text: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(text)) return text
  const description = 'must be 1 to 255 visible ASCII characters'
  throw invalid([{ field: 'idempotency-key', description }], 'IDEMPOTENCY_KEY_MALFORMED')
}

function readEntityTag(text: string): number | '*' {
  if (text.trim() === '*') return '*'
  const digits = /^\s*"(\d{1,15})"\s*$/.exec(text)?.[1]
  if (digits !== undefined) return Number(digits)
  const description = 'must be one ETag, such as "3", or *'
  throw invalid([{ field: 'if-match', description }], 'IF_MATCH_MALFORMED')
}
