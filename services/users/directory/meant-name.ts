import { type NameKind, withoutUnseen } from '#lib/names/name-faults'

/** A typed name without what a keyboard or a clipboard added: blanks at the ends, and what cannot be seen. */
export function meantName(typed: string, kind: NameKind = 'identifier'): string {
  return withoutUnseen(kind, typed).trim()
}
