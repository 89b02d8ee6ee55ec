export type Comparison = 'starts' | 'contains' | 'ends'

/** What the canonical form of a text has, where the text itself starts with another one, contains it or ends with it. */
export interface CanonicalPattern {
  /** A regular expression of PostgreSQL. Empty: nothing is sure. */
  pattern: string
  /** The canonical form begins so, where the text starts with the other one. */
  prefix: string
}

/**
 * The pattern of a text in canonical form. Its marks may compose with a character before it, its last character with
 * marks behind it: "Zoe" begins "Zoe\u0301", and the canonical form of that is "zoé".
 */
export function canonicalPattern(canonical: string, comparison: Comparison): CanonicalPattern {
  const points = [...canonical]
  const first = comparison === 'starts' ? 0 : points.findIndex((point) => !joins(point))
  if (comparison === 'ends')
    return { pattern: first < 0 ? '' : `${points.slice(first).map(letter).join('')}$`, prefix: '' }
  const last = points.findLastIndex((point) => !joins(point))
  if (last < 0) return { pattern: '', prefix: '' }
  const sure = points.slice(first, last)
  return {
    pattern: (comparison === 'starts' ? '^' : '') + sure.map(letter).join('') + family(points[last]!),
    prefix: comparison === 'starts' ? sure.join('').replace(/[σς].*$/su, '') : '',
  }
}

// Marks, and the vowels and last consonants of Hangul: all that composes with a character before it.
function joins(point: string): boolean {
  return /[\p{M}\u1160-\u11ff]/u.test(point)
}

// At the end of a word a sigma is written in another way.
function letter(point: string): string {
  return /[σς]/.test(point) ? '[σς]' : point.replace(/[\\^$.*+?()[\]{}|]/, String.raw`\$&`)
}

let families: Map<string, string> | undefined

// The character, and all that compose from it and others behind it.
function family(point: string): string {
  families ??= findFamilies()
  const base = baseOf(point)
  const others = families.get(base)
  return others === undefined ? letter(point) : `[${base}${others}]`
}

function findFamilies(): Map<string, string> {
  const found = new Map<string, string>()
  for (let code = 0x80; code < 0x30000; code++) {
    const point = String.fromCodePoint(code)
    // Of those that decompose into one other character, no canonical form has any.
    if (point === point.normalize('NFKC') && [...point.normalize('NFD')].length > 1)
      found.set(baseOf(point), (found.get(baseOf(point)) ?? '') + point)
  }
  return found
}

function baseOf(point: string): string {
  return String.fromCodePoint(point.normalize('NFD').codePointAt(0)!)
}
