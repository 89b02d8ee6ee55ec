/** An event type as filters name it: `user.email.changed`. Accepts `roster.user.email.changed.v1`, too. */
export function plainType(type: string): string {
  return type.replace(/^roster\.|\.v\d+$/g, '')
}

/**
 * Whether a filter's event type means this type. `wanted` may end with `*`; `type` has the form that `plainType` gives.
 */
export function meansType(wanted: string, type: string): boolean {
  const plain = plainType(wanted)
  return plain.endsWith('*') ? type.startsWith(plain.slice(0, -1)) : type === plain
}
