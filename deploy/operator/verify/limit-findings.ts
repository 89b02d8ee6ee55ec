import type { StoringService } from '../../provision.ts'
import type { FileFinding } from './finding.ts'

/** Findings of a service, or of a file, that are shown. Whoever makes any number of them has made his point. */
export const mostFindings = 10_000
/** Characters of a row's name, and of a problem. Both may have ids, which a captured service chose. */
const longest = 2000

/** Shows findings, and counts those that are too many to be shown. */
export interface LimitedFindings {
  report(found: FileFinding[]): Promise<void>
  /** Shows how many were not shown. Gives the number of all. */
  end(): Promise<number>
}

/** Shows the first findings of each service, and of what is of no service. */
export function limitFindings(show: (finding: FileFinding) => Promise<void>, most = mostFindings): LimitedFindings {
  const numbers = new Map<StoringService | undefined, number>()
  return {
    async report(found) {
      for (const { row, problem, ...finding } of found) {
        const number = (numbers.get(finding.service) ?? 0) + 1
        numbers.set(finding.service, number)
        if (number <= most) await show({ ...finding, row: shortened(row), problem: shortened(problem) })
      }
    },
    async end() {
      let all = 0
      for (const [service, number] of numbers) {
        all += number
        const problem = `${number - most} more differ, and are not shown`
        if (number > most) await show({ ...(service && { service }), row: 'verify', problem })
      }
      return all
    },
  }
}

function shortened(text: string): string {
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}
