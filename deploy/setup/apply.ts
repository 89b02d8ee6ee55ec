import { each } from './each.ts'
import { type Gateway, Refused } from './gateway.ts'
import type { Environment } from './item.ts'
import { itemsOf } from './items.ts'
import { type Change, planOf } from './plan.ts'
import { readSetupFile, SetupFaults } from './read-file.ts'

/** What applying the file would do. Throws SetupFaults. */
export async function checkSetup(gateway: Gateway, file: string, env: Environment): Promise<Change[]> {
  const items = itemsOf(readSetupFile(file))
  gateway.forget()
  return planOf(gateway, items, env)
}

/**
 * Makes and sets what the file names, and says each change. It removes nothing. Returns the number of changes. Throws
 * SetupFaults: before anything is written where the file contradicts, else with what the operations refused.
 */
export async function applySetup(
  gateway: Gateway,
  file: string,
  { env, say }: { env: Environment; say: (line: string) => void },
): Promise<number> {
  const changes = await checkSetup(gateway, file, env)
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
