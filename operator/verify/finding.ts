import type { StoringService } from '../../deploy/provision.ts'

/** Something stored that does not fit to the events. Shows no value: those are people's. */
export interface Finding {
  service: StoringService
  /** Such as `aggregates type=user id=17`: a table, and the key of the row. */
  row: string
  problem: string
}

/** Something in a file that does not fit. Without a service, it names the line alone. */
export type FileFinding = Omit<Finding, 'service'> & Partial<Pick<Finding, 'service'>>

/** The name of a row by its table and key. */
export function rowName(table: string, key: Record<string, unknown>): string {
  const columns = Object.entries(key).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  return [table, ...columns].join(' ')
}

/** Says that rows of a numbered table are missing before one. `expected`: the first of them. */
export function missingBefore(expected: number, number: number): string {
  const which = number - expected === 1 ? `${expected} is` : `${expected} to ${number - 1} are`
  return `${which} missing before it`
}

/** The paths at which two values of JSON differ, such as `state.human.email`: at most three. */
export function differences(one: unknown, other: unknown): string[] {
  const found: string[] = []
  const compare = (left: unknown, right: unknown, at: string) => {
    if (found.length >= most || left === right) return
    if (isObject(left) && isObject(right) && Array.isArray(left) === Array.isArray(right)) {
      for (const name of new Set([...Object.keys(left), ...Object.keys(right)]))
        compare(left[name], right[name], at === '' ? name : `${at}.${name}`)
    } else found.push(at)
  }
  compare(asJson(one), asJson(other), '')
  return found
}

const most = 3

function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
