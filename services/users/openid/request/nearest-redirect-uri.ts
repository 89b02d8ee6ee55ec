const mostEdits = 3

/**
 * The registered URI that is most like one that is not: it has the same host, or differs by a few letters. Else none, so
 * that nobody reads all of them out by trying.
 */
export function nearestRedirectUri(uri: string, registered: readonly string[]): string | undefined {
  const alike = registered
    .map((one) => ({ one, edits: editsBetween(uri.toLowerCase(), one.toLowerCase()), common: commonStart(uri, one) }))
    .filter(({ one, edits }) => edits <= mostEdits || isSameHost(uri, one))
  return alike.toSorted((one, other) => one.edits - other.edits || other.common - one.common)[0]?.one
}

function isSameHost(uri: string, other: string): boolean {
  const host = placeOf(uri)
  return host !== '' && host === placeOf(other)
}

// Of a URI with a scheme of its own, the scheme.
function placeOf(uri: string): string {
  const { protocol = '', hostname = '' } = URL.parse(uri) ?? {}
  return /^https?:$/.test(protocol) ? hostname.replace(/^www\./, '') : protocol
}

function commonStart(uri: string, other: string): number {
  const [one, another] = [uri.toLowerCase(), other.toLowerCase()]
  let at = 0
  while (at < one.length && one[at] === another[at]) at++
  return at
}

// Of Levenshtein. More than `mostEdits` are one more: so only as many cells of each line are looked at.
function editsBetween(one: string, other: string): number {
  const most = mostEdits + 1
  if (Math.abs(one.length - other.length) > mostEdits) return most
  let line = new Map(Array.from({ length: most + 1 }, (_, at) => [at, at]))
  for (let row = 1; row <= one.length; row++) {
    const next = new Map<number, number>()
    for (let at = Math.max(0, row - most); at <= Math.min(other.length, row + most); at++) {
      const replaced = (line.get(at - 1) ?? most) + (one[row - 1] === other[at - 1] ? 0 : 1)
      next.set(at, Math.min(most, replaced, (line.get(at) ?? most) + 1, (next.get(at - 1) ?? most) + 1))
    }
    line = next
  }
  return line.get(other.length) ?? most
}
