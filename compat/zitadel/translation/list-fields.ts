import type { DescField } from '@bufbuild/protobuf'
import type { Entry, Plan } from './plan.ts'

/** The fields of Roster by which a list is asked for and answered. */
export interface ListFields {
  /** The objects. */
  objects: DescField & { fieldKind: 'list' }
  /** Undefined where Roster gives the whole list at once. */
  paging: Record<'limit' | 'cursor' | 'withTotal' | 'nextCursor' | 'total', DescField> | undefined
}

/** Finds the fields of a list; undefined where the request asks for no page. Throws where the answer has no one list. */
export function listFields({ own: request, ...plan }: Plan, { own: answer }: Plan): ListFields | undefined {
  if (!asksForPage(plan.entries)) return undefined
  const lists = answer.fields.filter((field) => field.fieldKind === 'list')
  if (lists.length !== 1) throw new Error(`${answer.typeName} has no one list`)
  const [limit, cursor, withTotal] = ['limit', 'cursor', 'withTotal'].map((name) => request.field[name])
  const [nextCursor, total] = ['nextCursor', 'total'].map((name) => answer.field[name])
  const paging = limit && cursor && withTotal && nextCursor && total && { limit, cursor, withTotal, nextCursor, total }
  return { objects: lists[0]!, paging }
}

function asksForPage(entries: Entry[], known = new Set<Entry>()): boolean {
  return entries.some((entry) => {
    if (known.has(entry)) return false
    known.add(entry)
    return entry.means === 'offset' || (entry.inner !== undefined && asksForPage(entry.inner.entries, known))
  })
}
