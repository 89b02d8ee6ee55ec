import type { ReceivedSpan } from './collector.ts'

/** A span with the spans below it, in the order of their beginnings. */
export interface Branch {
  span: ReceivedSpan
  below: Branch[]
}

/** The tree of a trace, as far as it is there. A span whose parent is missing begins a branch of its own. */
export function treeOf(spans: ReceivedSpan[]): Branch[] {
  const ids = new Set(spans.map(({ spanId }) => spanId))
  const begin = [...spans].sort((a, b) => Number(a.began - b.began))
  const branchOf = (span: ReceivedSpan): Branch => ({
    span,
    below: begin.filter(({ parentId }) => parentId === span.spanId).map(branchOf),
  })
  return begin.filter(({ parentId }) => !ids.has(parentId)).map(branchOf)
}

/** A tree as lines: name, kind and service of each span, below its parent. Siblings come in the order of their text. */
export function linesOf(branches: Branch[], indent = ''): string[] {
  const texts = branches.map(({ span: { name, kind, service }, below }) => {
    return [`${indent}${name} [${kind}, ${service.replace('roster-', '')}]`, ...linesOf(below, `${indent}  `)].join(
      '\n',
    )
  })
  return texts.sort().flatMap((text) => text.split('\n'))
}
