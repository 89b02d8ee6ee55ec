import type { StoringService } from '../../provision.ts'

/** Something stored that does not fit to the events. Shows no value: those are people's. */
export interface Finding {
  service: StoringService
  /** Such as `aggregates type=user id=17`: a table, and the key of the row. */
  row: string
  problem: string
}

/** Something in a file that does not fit. Where it tells of no service, it names the line alone. */
export type FileFinding = Omit<Finding, 'service'> & Partial<Pick<Finding, 'service'>>

/** The name of a row by its table and key. */
export function rowName(table: string, key: Record<string, unknown>): string {
  const columns = Object.entries(key).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return [table, ...columns].join(' ')
}

/** The paths at which two values of JSON differ, such as `state.human.email`: at most three. */
export function differences(one: unknown, other: unknown, path: string): string[] {
  const found: string[] = []
  const compare = (left: unknown, right: unknown, at: string) => {
    if (found.length >= most || left === right) return
    if (isObject(left) && isObject(right) && Array.isArray(left) === Array.isArray(right)) {
      for (const name of new Set([...Object.keys(left), ...Object.keys(right)]))
        compare(left[name], right[name], at === '' ? name : `${at}.${name}`)
    } else found.push(at)
  }
  compare(asJson(one), asJson(other), path)
  return found
}

const most = 3

function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
