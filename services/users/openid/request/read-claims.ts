import { scopeOf, scopesOfClaims } from '../tokens/claims.ts'

/** What the parameter `claims` asks for (OpenID Connect Core section 5.5). */
export interface AskedClaims {
  /** Known ones, such as `id_token.email`. */
  claims: string[]
  /** Each counts as its scope. */
  scopes: string[]
  /** The only user that it may be answered for. */
  hintedUser: string | undefined
  /** The contexts (`acr`), the one that it likes best first; and whether no others will do. */
  acr: { values: string[]; isEssential: boolean } | undefined
}

/** Characters, and names. */
export const mostOfClaims = [4096, 50] as const
const [mostCharacters, mostNames] = mostOfClaims

/** Undefined where it cannot be read, or is too large. */
export function readClaims(text: string): AskedClaims | undefined {
  if (text === '') return { claims: [], scopes: [], hintedUser: undefined, acr: undefined }
  const asked = text.length <= mostCharacters ? parse(text) : undefined
  if (!isObject(asked)) return undefined
  const places = ['id_token', 'userinfo'] as const
  const [ofIdToken, ofUserInfo] = places.map((place) => asked[place] ?? {})
  if (!isObject(ofIdToken) || !isObject(ofUserInfo)) return undefined
  const members = [...Object.values(ofIdToken), ...Object.values(ofUserInfo)]
  if (members.length > mostNames || !members.every((member) => member === null || isObject(member))) return undefined
  const known = places.flatMap((place, index) =>
    Object.keys([ofIdToken, ofUserInfo][index]!)
      .filter((name) => Object.hasOwn(scopeOf, name))
      .map((name) => `${place}.${name}`),
  )
  const subjects = [ofIdToken, ofUserInfo].flatMap(({ sub }) => valuesOf(sub) ?? [])
  const acr = ofIdToken['acr']
  const acrValues = valuesOf(acr)
  return {
    claims: known,
    scopes: scopesOfClaims(known),
    // Two names of different users match no one.
    hintedUser: new Set(subjects).size > 1 ? '' : subjects[0],
    acr: acrValues && { values: acrValues, isEssential: (acr as Json)['essential'] === true },
  }
}

type Json = Record<string, unknown>

function valuesOf(member: unknown): string[] | undefined {
  if (!isObject(member)) return undefined
  const { value, values } = member
  const all: unknown[] = Array.isArray(values) ? values : value === undefined ? [] : [value]
  return all.length > 0 ? all.map(String) : undefined
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
