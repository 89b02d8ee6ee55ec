import type { NewSpan } from './tracing.ts'

/** The span of a statement, by what it does: no text of a statement, and none of its values. */
export function spanOfStatement(summary: string, attributes: NewSpan['attributes']): NewSpan {
  return {
    name: summary,
    kind: 'client',
    attributes: { 'db.system.name': 'postgresql', 'db.query.summary': summary, ...attributes },
  }
}
