import { RosterError } from '#lib/errors'
import type { Aggregate, AggregateKey } from '#lib/eventstore/aggregate'
import type { Decision, Outcome } from '#lib/eventstore/command'
import { because } from '#lib/subscriptions/follow'
import type { Context } from '../context.ts'
import type { Cause } from './cause.ts'

/** How many aggregates one transaction changes. */
export const portion = 500

/** An aggregate that a cascade found, at the sequence that it had then. */
export interface Found extends AggregateKey {
  sequence: number
  /** Its place in the order of the search. */
  place: [string, string]
}

/** The place before all others. */
export const start: Found['place'] = ['', '']

/**
 * Changes all aggregates that `find` finds, in portions. It begins again until there is none: one that changed since it
 * was found stays as it is at first. `find` looks behind a place, so as not to pass the rows of earlier portions.
 */
export async function inPortions<State>(
  { store }: Context,
  { event, stopped }: Cause,
  find: (after: Found['place']) => PromiseLike<Found[]>,
  decide: (aggregate: Aggregate<State>) => Decision,
): Promise<void> {
  let [all, changed, fruitless] = [0, 0, 0]
  for (let after = start; !stopped.aborted;) {
    const found = await find(after)
    if (found.length > 0) {
      all += found.length
      changed += await store.executeAll({
        commands: found.map(({ type, id, sequence }) => ({
          aggregate: { type, id },
          decide: (aggregate: Aggregate<State>) => (aggregate.sequence === sequence ? decide(aggregate) : nothing),
          respond: ({ before, after: now }: Outcome<State, void>) => now.sequence > before.sequence,
        })),
        call: because(event),
        lane: event.organizationId,
        respond: countChanged,
      })
      after = found.at(-1)!.place
    } else {
      if (all === 0) return
      // Once, another cascade may have changed them all meanwhile. Otherwise a fault would keep this at work for ever.
      fruitless = changed === 0 ? fruitless + 1 : 0
      if (fruitless > 1) throw new Error(`nothing of ${all} found was changed because of ${event.id}`)
      ;[all, changed, after] = [0, 0, start]
    }
  }
}

const nothing: Decision = { events: [], answer: undefined }

function countChanged(outcomes: (boolean | RosterError)[]): number {
  const refused = outcomes.find((outcome) => outcome instanceof RosterError)
  if (refused) throw refused
  return outcomes.filter((outcome) => outcome).length
}
