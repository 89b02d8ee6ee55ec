const longest = 40

/** Characters that could break a line, or reverse the direction of the text around them. */
export const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/gu

// Text that a mail program would make a link of, or that asks for a call or an answer.
const linkable = /[:/\\@<>[\]{}|]|www\.|[\p{L}\p{N}][.。][\p{L}\p{N}]{2}|(?:\d[\s().-]*){5}/iu

// Invisible characters could hide a link from the pattern above.
const unseen = /\p{Default_Ignorable_Code_Point}+/gu

/**
 * Returns the name as a mail may show it, or '' for a greeting without a name. Anybody may choose any name and any
 * address, so a name must not carry a message to a stranger. Long names are cut at 40 characters. A name that looks
 * like a link, an address or a telephone number is left out.
 */
export function greetedName(displayName: string): string {
  const name = displayName.normalize('NFC').replace(unprintable, ' ').replace(/\s+/gu, ' ').trim()
  if (linkable.test(name.normalize('NFKC').replace(unseen, ''))) return ''
  const shown = name.length > longest ? shortened(name) : name
  return shown.length > 4 * longest ? '' : shown
}

function shortened(name: string): string {
  const symbols = [...segmenter.segment(name)].map(({ segment }) => segment)
  if (symbols.length <= longest) return name
  return `${symbols
    .slice(0, longest - 1)
    .join('')
    .trim()}…`
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' })
