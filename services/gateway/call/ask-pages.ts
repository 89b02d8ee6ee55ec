import { fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import { reflect } from '@bufbuild/protobuf/reflect'
import { invalid, RosterError } from '#lib/errors'
import type { Answered } from '#lib/rpc/call'
import type { ArrivedCall } from './arrived-call.ts'
import { ask } from './ask.ts'
import type { IdentifiedCall } from './identify.ts'
import type { ListFields } from '../../../compat/zitadel/translation/list-fields.ts'
import type { Translated } from '../../../compat/zitadel/translation/translate-request.ts'

/** The answer of a service, read. */
export interface ReadAnswer {
  answered: Answered
  message: Message
  /** The number of all objects of a list. */
  total: number
}

/** The objects of a page whose size is not said, as in the reference system. */
const usualLimit = 100
const mostLimit = 1_000
/** The most objects that a list skips: Roster counts no further either. */
const mostOffset = 10_000
/** Within the bytes that clients of gRPC take by default. */
const mostBytes = 3 * 1024 * 1024
const mostPages = 50

/**
 * Asks for a page by its offset. Roster pages by a cursor, so the pages before it are read and dropped. Each one counts
 * as a call. INVALID_ARGUMENT for a page beyond what a list gives; RESOURCE_EXHAUSTED ANSWER_TOO_LARGE; errors of `ask`
 * and of the rates.
 */
export async function askPages(
  { gateway, arrival }: ArrivedCall,
  call: IdentifiedCall,
  { objects, paging }: ListFields,
  { request, page }: Translated,
): Promise<ReadAnswer> {
  const { offset, limit } = checkPage(page)
  const { input, output } = call.method.desc
  const taken: unknown[] = []
  let [seen, bytes, total] = [0, 0, 0]
  for (let pages = 1; ; pages++) {
    if (pages > 1) gateway.rates.admit(call.forService().caller, call.method, arrival.clientAddress)
    if (paging) {
      request.set(paging.limit, Math.min(mostLimit, seen < offset ? offset - seen : limit - taken.length))
      request.set(paging.withTotal, pages === 1)
    }
    const answered = await ask(call, toBinary(input, request.message))
    const answer = reflect(output, fromBinary(output, answered.bytes))
    const found = [...answer.get(objects)]
    const wanted = found.slice(Math.max(0, offset - seen)).slice(0, limit - taken.length)
    taken.push(...wanted)
    seen += found.length
    if (wanted.length > 0) bytes += answered.bytes.length
    if (pages === 1) total = paging ? Number(answer.get(paging.total)) : found.length
    const cursor = paging ? answer.get(paging.nextCursor) : ''
    if (cursor === '' || taken.length >= limit) {
      const list = answer.get(objects)
      list.clear()
      for (const object of taken) list.add(object)
      return { answered, message: answer.message, total }
    }
    if (bytes > mostBytes || pages >= mostPages) throw tooLarge()
    request.set(paging!.cursor, cursor)
  }
}

function checkPage({ offset, limit }: Translated['page']) {
  const faults = [
    ...(offset > mostOffset ? [{ field: 'query.offset', description: `must be at most ${mostOffset}` }] : []),
    ...(limit > mostLimit ? [{ field: 'query.limit', description: `must be at most ${mostLimit}` }] : []),
  ]
  if (faults.length > 0) throw invalid(faults)
  return { offset, limit: limit || usualLimit }
}

function tooLarge() {
  const text = 'The page has more than one answer takes. Ask for fewer objects.'
  return new RosterError('RESOURCE_EXHAUSTED', 'ANSWER_TOO_LARGE', text)
}
