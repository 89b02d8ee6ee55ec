/**
 * What a name names, as proto/ declares it by the option `name`. An identifier tells objects apart, so two of them must
 * not look alike. Names of things and of people are read: they may hold what emoji and writing need.
 */
export type NameKind = 'identifier' | 'thing' | 'person'

/** The faults of a new name: what it holds is not what its reader sees. An empty one has none. */
export function nameFaults(kind: NameKind, name: string): string[] {
  const visible = withoutUnseen(kind, name)
  return [
    ...(kind === 'identifier' && outerBlank.test(name) ? ['must not begin or end with a blank'] : []),
    ...(visible !== name
      ? [`must not hold a character that cannot be seen, such as ${firstUnseen(name, visible)}`]
      : []),
    ...(visible === name && name !== '' && !shows.test(name) ? ['must hold a character that can be seen'] : []),
  ]
}

/** The text without what a name of this kind may not hold because it cannot be seen. Blanks stay. */
export function withoutUnseen(kind: NameKind, text: string): string {
  return text.replaceAll(searched[kind], '$1')
}

/**
 * All that a reader cannot see: control characters, marks of the direction, those that Unicode gives no width or no
 * meaning, such as a soft hyphen, and three that are drawn as blanks, which their properties do not say.
 */
export const unseen = /[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\u{16fe4}\u{1d159}]/u

const outerBlank = /^\p{Zs}|\p{Zs}$/u
// A mark alone has nothing to stand on.
const shows = /[\p{L}\p{N}\p{P}\p{S}]/u

// Persian and the scripts of India separate or join letters by U+200C and U+200D; Mongolian and Han choose among forms.
const scripts = 'Arab Syrc Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr'
const joining = `[${scripts.replaceAll(/(\w+) ?/g, '\\p{scx=$1}')}]`
const writing = [
  `(?<=${joining})[\\u200c\\u200d]`,
  '(?<=\\p{scx=Mong})[\\u180b-\\u180f]',
  '(?<=\\p{Ideographic})[\\ufe00-\\ufe02\\u{e0100}-\\u{e01ef}]',
]
const kept = ['\\p{RGI_Emoji}', ...writing]

const searched: Record<NameKind, RegExp> = {
  identifier: search([]),
  thing: search(kept),
  // Anywhere: names of people are also written in letters of another script.
  person: search([...kept, '[\\u200c\\u200d]']),
}

// Finds what is kept, as the first group, or what cannot be seen.
function search(kept: string[]): RegExp {
  return new RegExp(`(${kept.join('|') || '(?!)'})|${unseen.source}`, 'gv')
}

function firstUnseen(name: string, visible: string): string {
  const left = [...visible]
  const hidden = [...name].find((character, at) => character !== left[at])!
  return `U+${hidden.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}
