import type { Sql } from '#lib/eventstore/database'
import type { StoringService } from '../../provision.ts'
import type { Missing } from './check-events.ts'
import type { Finding } from './finding.ts'
import { type Published, readPublished } from './published.ts'

type Found = Finding & { missing?: Missing }

/**
 * Judges what the stream of a service lacks. The service itself says how far it has published, so nothing that it says
 * may end the look without a word.
 */
export function judgeMissing(sql: Sql, service: StoringService, before: Published | undefined) {
  let late = 0
  let changed = false

  return {
    /** Gives the findings to report now. */
    async page(found: Found[]): Promise<Finding[]> {
      late += found.filter(({ missing }) => missing === 'late').length
      const isLost = ({ missing }: Found) => missing === 'lost'
      // What is published anew meanwhile may be in the stream by now, where nobody looked.
      if (before && !changed && found.some(isLost)) changed = !isSame(await readPublished(sql), before)
      return found
        .filter((one) => one.missing === undefined || (isLost(one) && !changed))
        .map(({ service: of, row, problem }) => ({ service: of, row, problem }))
    },
    /** Gives what is to be told once about all. */
    end(): Finding[] {
      const told = (problem: string): Finding => ({ service, row: 'published', problem })
      return [
        ...(changed
          ? [
              told(
                'events began to be published anew meanwhile, so it cannot be told which the stream lacks. Verify again',
              ),
            ]
          : []),
        ...(late > 0
          ? [told(`${late} events are older than ten minutes, and neither published nor in the stream`)]
          : []),
      ]
    },
  }
}

function isSame(one: Published, other: Published): boolean {
  return one.generation === other.generation && one.streamCreated === other.streamCreated
}
