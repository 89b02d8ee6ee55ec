/** Splits a part of a query or a form into name and value. Each is undefined where it is not percent-encoded UTF-8. */
export function splitPair(pair: string): [string | undefined, string | undefined] {
  const at = pair.indexOf('=')
  const parts = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)]
  const [name, value] = parts.map((part) => unescapePart(part.replaceAll('+', ' ')))
  return [name, value]
}

/** Decodes percent-encoded UTF-8. Undefined where the text is none. */
export function unescapePart(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}
