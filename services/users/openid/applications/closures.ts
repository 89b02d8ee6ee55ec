import type { AggregateKey } from '#lib/eventstore/aggregate'
import { type Closure, closureType } from '../events/closure.ts'
import type { Openness } from './application-copy.ts'

/** Names the closure of an application or a project. Every decision that depends on one reads it. */
export function closureKey(of: 'application' | 'project', id: string): AggregateKey<Closure> {
  return { type: closureType, id: `${of}-${id}` }
}

/** What a closure says, also a missing one. */
export function openness(closure: Closure | null | undefined): Openness {
  return { isOpen: !closure || closure.state === 'active', revision: closure?.sequence ?? 0 }
}
