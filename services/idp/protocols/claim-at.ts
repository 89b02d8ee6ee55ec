/**
 * What a claim holds: of a name, as it is; or of a JSON Pointer (RFC 6901) through objects. Undefined where there is none,
 * and of the empty name. What is behind an element of a list has no name: a list is looked at as a whole.
 */
export function claimAt(claims: Record<string, unknown>, claim: string): unknown {
  if (claim === '') return undefined
  if (!claim.startsWith('/')) return own(claims, claim)
  const names = claim.slice(1).split('/').map(unescaped)
  return names.reduce<unknown>((found, name) => (isObject(found) ? own(found, name) : undefined), claims)
}

function unescaped(name: string): string {
  return name.replaceAll('~1', '/').replaceAll('~0', '~')
}

// A name such as `constructor` is of every object, and of none.
function own(object: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
