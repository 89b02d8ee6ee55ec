import type { Sql } from '#lib/eventstore/database'
import type { StoringService } from '../provision.ts'
import type { Output } from './output.ts'
import { Refusal } from './refusal.ts'
import type { System } from './system.ts'

/** Work of one command on several services. Whoever holds one must not hinder the work on the others. */
export interface Turns {
  /** Works on what a service stores. Gives undefined where that fails, and keeps the reason. */
  at<T>(service: StoringService, work: (sql: Sql) => Promise<T>): Promise<T | undefined>
  /** Tells where it failed, and why. Throws where every service failed for the same reason, as without a server. */
  tell(): void
  /** Tells the same. Gives this exit status, or 2 where a service failed. */
  end(status: number): number
}

/** The turns of one command. */
export function openTurns(system: System, output: Output): Turns {
  const failed = new Map<StoringService, Error>()
  const told = new Set<StoringService>()
  let isAnyDone = false
  const tell = () => {
    const [first, ...others] = failed.values()
    if (first && !isAnyDone && others.every((error) => textOf(error) === textOf(first))) throw first
    for (const [service, error] of failed) if (!told.has(service)) output.trouble(`${service}: ${textOf(error)}`)
    for (const service of failed.keys()) told.add(service)
  }
  return {
    async at(service, work) {
      try {
        const made = await work(await system.begun(service))
        isAnyDone = true
        return made
      } catch (error) {
        if (error instanceof Refusal) throw error
        if (!failed.has(service)) failed.set(service, error as Error)
        return undefined
      }
    },
    tell,
    end(status) {
      tell()
      return failed.size > 0 ? 2 : status
    },
  }
}

function textOf(error: Error): string {
  return error.message || String((error as { code?: unknown }).code)
}
