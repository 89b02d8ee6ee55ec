const longest = 40

/** Whatever could break a line or turn the text around it. */
export const unprintable = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]+/gu

// What a mail program would make a link of, or what asks to be called or answered.
const linkable = /[:/\\@<>[\]{}|]|www\.|[\p{L}\p{N}][.。][\p{L}\p{N}]{2}|(?:\d[\s().-]*){5}/iu

// What is not seen could part the signs of a link.
const unseen = /\p{Default_Ignorable_Code_Point}+/gu

/**
 * The name as a mail may show it, or '' for a greeting without one. Anybody can give themselves any name and any address, so a
 * name must not be able to carry a message to a stranger: it is cut at 40 characters, and left out where it looks like a link,
 * an address or a telephone number.
 */
export function greetedName(displayName: string): string {
  const name = displayName.normalize('NFC').replace(unprintable, ' ').replace(/\s+/gu, ' ').trim()
  if (linkable.test(name.normalize('NFKC').replace(unseen, ''))) return ''
  const symbols = [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(name)].map(
    ({ segment }) => segment,
  )
  const shown =
    symbols.length > longest
      ? `${symbols
          .slice(0, longest - 1)
          .join('')
          .trim()}…`
      : name
  return shown.length > 4 * longest ? '' : shown
}
