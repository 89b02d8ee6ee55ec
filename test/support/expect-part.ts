import { expect } from 'vitest'
import { documentPart } from './document-part.ts'

/** Holds a part of a document in `docs/` against what it has to say. With `-u`, writes it there instead. */
export function expectPart(document: string, name: string, made: string): void {
  const part = documentPart(document, name)
  if (isRenewing()) part.replace(made)
  else expect(part.text, `With -u, this test writes the ${name} in docs/${document} again.`).toBe(made)
}

/** Whether this run renews what it compares or measures: it has `-u`, as for any other snapshot. */
export function isRenewing(): boolean {
  return expect.getState().snapshotState.snapshotUpdateState === 'all'
}
