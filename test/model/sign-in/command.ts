import * as fc from 'fast-check'
import type { Place } from './place.ts'
import type { Model } from './rules.ts'

export type SignInCommand = fc.AsyncCommand<Model, Place>

/** How often each was done, to see that a run reaches all of them. */
export const counts: Record<string, number> = {}

export function count(name: string): void {
  counts[name] = (counts[name] ?? 0) + 1
}

/**
 * A kind of command: what it draws, when it can be done, and what it does to the model and to the real things, which it
 * compares. Others are added to the list of `commands.ts`.
 */
export function command<Drawn>(
  name: string,
  drawn: fc.Arbitrary<Drawn>,
  {
    check = () => true,
    run,
  }: {
    check?: (model: Model, drawn: Drawn) => boolean
    run(model: Model, place: Place, drawn: Drawn): Promise<void>
  },
): fc.Arbitrary<SignInCommand> {
  return drawn.map((each) => ({
    check: (model) => check(model, each),
    async run(model, place) {
      model.tick++
      count(name)
      await run(model, place, each)
    },
    toString: () => `${name} ${JSON.stringify(each)}`,
  }))
}
