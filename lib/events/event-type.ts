/** An event type as filters name it, `user.email.changed`, also where it is spelled `roster.user.email.changed.v1`. */
export function plainType(type: string): string {
  return type.replace(/^roster\.|\.v\d+$/g, '')
}

/** Whether a filter's event type, which may end with `*`, means this one, as `plainType` gives it. */
export function meansType(wanted: string, type: string): boolean {
  const plain = plainType(wanted)
  return plain.endsWith('*') ? type.startsWith(plain.slice(0, -1)) : type === plain
}
