import type { Sql } from '#lib/database/database'
import { storingServices, type StoringService } from '../../deploy/provision.ts'
import { messageOf } from '../services.ts'
import type { System } from '../system.ts'

/** Looks at one thing after another, and goes on where one cannot be looked at. */
export interface Attempts {
  /** Looks at something. Returns undefined where that fails, and keeps the reason under the name. */
  at<T>(name: string, look: () => Promise<T>): Promise<T | undefined>
  inService<T>(service: StoringService, look: (sql: Sql) => Promise<T>): Promise<T | undefined>
  /** Looks at what each service stores. Leaves out those that cannot be looked at: one must not hide its sisters. */
  inEach<T>(look: (sql: Sql) => Promise<T>): Promise<Partial<Record<StoringService, T>>>
  /** What could not be looked at, and why: a line for each reason. */
  problems(): string[]
}

/** The attempts of one command. */
export function openAttempts(system: System): Attempts {
  const problems = new Set<string>()
  const at: Attempts['at'] = async (name, look) => {
    try {
      return await look()
    } catch (error) {
      problems.add(`${name}: cannot be looked at: ${messageOf(error)}`)
      return undefined
    }
  }
  // One after the other: where one fails, such as by a lock, the next ones would only wait as long.
  const before = new Map<StoringService, Promise<unknown>>()
  const inService: Attempts['inService'] = (service, look) => {
    const looking = (before.get(service) ?? Promise.resolve()).then(() => look(system.sql(service)))
    before.set(service, looking)
    return at(service, () => looking)
  }
  return {
    at,
    inService,
    async inEach<T>(look: (sql: Sql) => Promise<T>) {
      const found = await Promise.all(
        storingServices.map(async (service) => [service, await inService(service, look)] as const),
      )
      return Object.fromEntries(found.filter(([, one]) => one !== undefined))
    },
    problems: () => [...problems],
  }
}
