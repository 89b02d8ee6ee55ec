import { invalid } from '#lib/errors'
import type { Call } from '#lib/rpc/headers'
import type { Method } from '#lib/rpc/methods'
import type { Header } from '../listen/headers.ts'

const mostTags = 20
/** No object has this sequence. */
const never = -1

/**
 * The conditions of a write; a read has none. `Idempotency-Key` is 1 to 255 visible characters: the request has one
 * effect, however often it comes within 24 hours. `If-Match` and `If-None-Match` are ETags, or `*` for any object that
 * exists (RFC 9110): the object must have one of the first, and none of the second. What makes an object has nothing to
 * compare with the second. INVALID_ARGUMENT IDEMPOTENCY_KEY_MALFORMED, IF_MATCH_MALFORMED, IF_NONE_MATCH_MALFORMED.
 */
export function readConditions(
  method: Method,
  header: Header,
): Pick<Call, 'idempotencyKey' | 'ifMatch' | 'ifNoneMatch'> {
  if (method.reads) return {}
  const idempotencyKey = header('idempotency-key')
  const ifMatch = header('if-match')
  const ifNoneMatch = header('if-none-match')
  return {
    ...(idempotencyKey !== undefined && { idempotencyKey: readKey(idempotencyKey) }),
    ...(ifMatch !== undefined && { ifMatch: readEntityTags('if-match', ifMatch, 'strong') }),
    ...(ifNoneMatch !== undefined &&
      !creates(method) && { ifNoneMatch: readEntityTags('if-none-match', ifNoneMatch, 'weak') }),
  }
}

function readKey(text: string): string {
  if (/^[\x21-\x7e]{1,255}$/.test(text)) return text
  const description = 'must be 1 to 255 visible ASCII characters'
  throw invalid([{ field: 'idempotency-key', description }], 'IDEMPOTENCY_KEY_MALFORMED')
}

// Where only strong tags match, a weak one matches none, nor does one that is no sequence.
function readEntityTags(name: 'if-match' | 'if-none-match', text: string, matching: 'strong' | 'weak') {
  if (text.trim() === '*') return '*'
  const sequences: number[] = []
  const member = /[ \t]*(?:(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"[ \t]*)?(?:,|$)/y
  while (member.lastIndex < text.length) {
    const [found, weak, tag] = member.exec(text) ?? []
    if (found === undefined) throw tagsMalformed(name)
    if (tag === undefined) continue
    const matches = /^(0|[1-9]\d{0,14})$/.test(tag) && (!weak || matching === 'weak')
    sequences.push(matches ? Number(tag) : never)
  }
  if (sequences.length === 0 || sequences.length > mostTags) throw tagsMalformed(name)
  return sequences
}

function tagsMalformed(field: 'if-match' | 'if-none-match') {
  const description = `must be at most ${mostTags} ETags, such as "3", or *`
  if (field === 'if-match') return invalid([{ field, description }], 'IF_MATCH_MALFORMED')
  return invalid([{ field, description }], 'IF_NONE_MATCH_MALFORMED')
}

/** Whether the method makes an object: then its path names no object, or only the one that the new one belongs to. */
function creates({ desc }: Method): boolean {
  return /^(Bulk)?Add[A-Z]/.test(desc.name)
}
