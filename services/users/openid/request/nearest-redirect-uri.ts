import type { OidcCopy } from '../applications/application-copy.ts'

const mostEdits = 3
// Comparing longer ones would cost a stranger nothing, and everybody else the time.
const mostCompared = 300
const mostApart = 40

/**
 * The registered URI that is most like one that is not: it differs by scheme, port, `www.`, the name of this machine,
 * slashes at the end, or a few letters. Of an application in development, also one of the same host. Else none, so that
 * nobody reads out the others by trying.
 */
export function nearestRedirectUri(
  uri: string,
  { redirectUris, devMode }: Pick<OidcCopy, 'redirectUris' | 'devMode'>,
): string | undefined {
  if (uri.length > mostCompared) return undefined
  const asked = plain(uri)
  const host = hostOf(asked)
  return redirectUris
    .filter((one) => one.length <= mostCompared)
    .map((one) => ({ one, edits: editsBetween(asked, plain(one)), common: commonStart(asked, plain(one)) }))
    .filter(
      ({ one, edits }) =>
        (edits <= mostEdits && edits * 4 <= asked.length) || (devMode && host !== '' && host === hostOf(plain(one))),
    )
    .toSorted((one, other) =>
      one.edits > other.edits ? 1 : one.edits < other.edits ? -1 : other.common - one.common,
    )[0]?.one
}

function plain(uri: string): string {
  return uri
    .toLowerCase()
    .replace(/^https?:\/\/(?:www\.)?(\[[^\]]*\]|[^/?#:]*)(?::\d*)?/, '$1')
    .replace(/^(?:127\.0\.0\.1|\[::1\])/, 'localhost')
    .replace(/\/+$/, '')
}

// Of a URI with a scheme of its own, the scheme.
function hostOf(text: string): string {
  return /^[^/?#]*/.exec(text)![0]
}

function commonStart(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}

// Of Levenshtein. Where more than a few letters in a row are not the same, it is too many.
function editsBetween(one: string, other: string): number {
  const start = commonStart(one, other)
  const [mine, yours] = [one.slice(start), other.slice(start)]
  const end = commonStart([...mine].toReversed().join(''), [...yours].toReversed().join(''))
  const [from, to] = [mine.slice(0, mine.length - end), yours.slice(0, yours.length - end)]
  if (Math.abs(from.length - to.length) > mostEdits || from.length > mostApart) return Infinity
  let line = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (const letter of from) {
    const next = [line[0]! + 1]
    for (let at = 1; at <= to.length; at++)
      next.push(Math.min(line[at - 1]! + (letter === to[at - 1] ? 0 : 1), line[at]! + 1, next[at - 1]! + 1))
    line = next
  }
  return line[to.length]!
}
