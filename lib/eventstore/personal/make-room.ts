/** Forgets the oldest entries of a full map, some at a time. */
export function makeRoom(map: Map<string, unknown>, most: number): void {
  if (map.size < most) return
  let surplus = Math.ceil(most / 10)
  for (const key of map.keys()) {
    map.delete(key)
    if (--surplus === 0) return
  }
}
