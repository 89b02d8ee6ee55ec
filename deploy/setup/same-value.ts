import { isDeepStrictEqual } from 'node:util'

/**
 * Whether the value of a field in an answer means the one in the file. An answer may leave out what is empty. Lists have
 * no order, and a duration has one value however it is spelled.
 */
export function sameValue(former: unknown, wanted: unknown): boolean {
  return isDeepStrictEqual(plain(former), plain(wanted))
}

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(plain).toSorted(byText)
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([name, inner]) => [name, plain(inner)] as const)
    return Object.fromEntries(entries.filter(([, inner]) => inner !== undefined))
  }
  if (typeof value !== 'string') return value === false || value === 0 || value === null ? undefined : value
  const [, seconds] = /^(\d+(?:\.\d*?[1-9])?)(?:\.?0*)s$/.exec(value) ?? []
  return value === '' || zeros.has(value) ? undefined : seconds === undefined ? value : `${Number(seconds)}s`
}

function byText(left: unknown, right: unknown): number {
  const [a, b] = [JSON.stringify(left), JSON.stringify(right)]
  return a < b ? -1 : a > b ? 1 : 0
}

// The first value of an enum is the same as none.
const zeros = new Set([
  'GENDER_UNSPECIFIED',
  'KEEP_SIGNED_IN_UNSPECIFIED',
  'ACCESS_TOKEN_TYPE_BEARER',
  'ID_TOKEN_ALGORITHM_UNSPECIFIED',
  'API_AUTH_METHOD_TYPE_BASIC',
  'OIDC_APP_TYPE_WEB',
  'OIDC_AUTH_METHOD_TYPE_BASIC',
  'OIDC_TOKEN_TYPE_BEARER',
])
