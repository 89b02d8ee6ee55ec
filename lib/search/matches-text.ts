import { TextQueryMethod } from '#gen/roster/object/v1/search'
import { canonicalName } from './canonical-name.ts'

/** Whether a text fits a query, as `textCondition` finds it in a table. */
export function matchesText(text: string, query: { text: string; method: TextQueryMethod }): boolean {
  switch (query.method) {
    case TextQueryMethod.TEXT_QUERY_METHOD_EQUALS:
      return text === query.text
    case TextQueryMethod.TEXT_QUERY_METHOD_STARTS_WITH:
      return text.startsWith(query.text)
    case TextQueryMethod.TEXT_QUERY_METHOD_CONTAINS:
      return text.includes(query.text)
    case TextQueryMethod.TEXT_QUERY_METHOD_ENDS_WITH:
      return text.endsWith(query.text)
    default:
      // The numbers come in pairs: one that minds case, and one that ignores it.
      return matchesText(canonicalName(text), {
        text: canonicalName(query.text),
        method: (query.method - 1) as TextQueryMethod,
      })
  }
}
