import { each } from './each.ts'
import { type Gateway, Refused } from './gateway.ts'
import type { Environment } from './item.ts'
import { itemsOf } from './items.ts'
import { type Plan, planOf } from './plan.ts'
import { readSetupFile, SetupFaults } from './read-file.ts'

/** What applying the file would do. Throws SetupFaults. */
export async function checkSetup(gateway: Gateway, file: string, env: Environment): Promise<Plan> {
  const items = itemsOf(readSetupFile(file))
  gateway.forget()
  return planOf(gateway, items, env)
}

/**
 * Makes and sets what the file names, and says each change. It removes nothing. `warn` hears of what it passes over, since it
 * was removed in Roster. Returns the number of changes. Throws
 * SetupFaults: before anything is written where the file contradicts, else with what the operations refused.
 */
export async function applySetup(
  gateway: Gateway,
  file: string,
  { env, say, warn }: { env: Environment; say: (line: string) => void; warn: (line: string) => void },
): Promise<number> {
  const { changes, warnings } = await checkSetup(gateway, file, env)
  warnings.forEach(warn)
  let done = 0
  for (const rank of Map.groupBy(changes, ({ item }) => item.kind.rank).values()) {
    const faults: string[] = []
    await each(rank, async (change) => {
      try {
        for (const call of change.calls) await gateway.perform(call)
        done += 1
        say(change.text)
      } catch (error) {
        if (!(error instanceof Refused)) throw error
        faults.push(`${change.item.at}: ${error.message}`)
      }
    })
    if (faults.length > 0)
      throw new SetupFaults([
        ...faults,
        `${done} of ${changes.length} changes are done: apply it again, and it goes on.`,
      ])
  }
  return done
}
