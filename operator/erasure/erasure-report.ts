import type { Called, Command } from '../command.ts'
import { table } from '../output.ts'
import { Refusal } from '../refusal.ts'
import { lookForUser } from './look-for-user.ts'

/** The report of an erasure. Its first name was `forgotten`. */
export const erasureReport: Command = {
  name: 'forgotten',
  alias: 'erasure-report',
  takes: 'USER',
  summary: 'Searches every store for data that still identifies a removed user.',
  more: [
    'It names what it found in each store, and how much of that is readable. Ids, types and times may stay.',
    'Exit status 1 where something is readable, also of a user who can still be restored.',
  ],
  arguments: [1, 1],
  run,
}

async function run({ system, output, args }: Called): Promise<number> {
  const user = args[0]!
  const found = await lookForUser(system, user)
  if (!found) throw new Refusal(`There never was a user ${JSON.stringify(user)}.`)
  const problems = found.filter(({ problem }) => problem !== undefined)
  for (const { store, problem } of problems) output.trouble(`${store}: cannot be looked at: ${problem}`)
  const isErased = found.every(({ readable }) => readable === 0)
  if (output.isJson) await output.json({ user, forgotten: isErased, stores: found })
  else {
    const rows = found.map(({ store, rows, readable }) => [store, rows, readable])
    for (const line of table(['STORE', 'FOUND', 'READABLE'], rows)) output.line(line)
    output.line()
    output.line(isErased ? 'Nothing readable is left.' : '! This user can still be read.')
  }
  if (problems.length > 0) return 2
  return isErased ? 0 : 1
}
