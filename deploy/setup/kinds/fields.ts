import type { Fields } from '../item.ts'

/** These fields of the object that are there. */
export function pick(from: Fields, names: readonly string[]): Fields {
  return Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]))
}

/** The field of an answer that holds an object. */
export function objectIn(answer: Fields | undefined, name: string): Fields | undefined {
  return answer?.[name] as Fields | undefined
}
