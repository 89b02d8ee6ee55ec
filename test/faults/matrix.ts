import { documentPart } from '../support/document-part.ts'
import { type Outcome, promises, type Promised, violationsOf } from './outcome.ts'

/** Writes the matrix of a run between its markers in docs/reliability.md. */
export function writeMatrix(seed: number, outcomes: Outcome[]): void {
  const made = `Seed ${seed}, ${new Date().toISOString().slice(0, 10)}: ${summarize(outcomes)}\n\n${matrix(outcomes)}`
  documentPart('reliability.md', 'matrix').replace(made)
}

/** The numbers of a run in one sentence. */
export function summarize(outcomes: Outcome[]): string {
  const sum = (of: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + of(outcome), 0)
  const count = (kind: string) => sum(({ round }) => round.faults.filter((fault) => fault.kind === kind).length)
  const lost = `${sum(({ unanswered }) => unanswered)} attempts without an answer`
  return (
    `${sum(({ writes }) => writes)} writes acknowledged in ${outcomes.length} rounds with ${count('kill')} kills, ${count('pause')} pauses, ` +
    `${count('cut')} cuts and ${count('stall')} stalls; ${sum(({ retries }) => retries)} retries, ${lost}; ` +
    `${sum(({ twice }) => twice)} mails came twice, with the same code, ${sum(({ again }) => again)} events came to the webhook again; ` +
    `${sum(({ refreshes }) => refreshes)} refreshes and ${sum(({ silent }) => silent)} sign-ins without a question; ${outcomes.flatMap(violationsOf).length} violations.`
  )
}

// A row for each fault, a column for each promise.
function matrix(outcomes: Outcome[]): string {
  const names = Object.keys(promises) as Promised[]
  const header = ['fault', 'runs', 'writes', 'retries', ...names.map((name) => promises[name])]
  const groups = [...Map.groupBy(outcomes, ({ name }) => name)].toSorted(
    ([left], [right]) => Number(left.includes(' and ')) - Number(right.includes(' and ')) || left.localeCompare(right),
  )
  const rows = groups.map(([name, group]) => {
    const sum = (of: (outcome: Outcome) => number) => String(group.reduce((total, outcome) => total + of(outcome), 0))
    const results = names.map((promised) => {
      const wrong = Number(sum(({ violations }) => violations[promised].length))
      return wrong === 0 ? 'kept' : `**${wrong} violations**`
    })
    return [name, String(group.length), sum(({ writes }) => writes), sum(({ retries }) => retries), ...results]
  })
  const widths = header.map((_, column) => Math.max(...[header, ...rows].map((cells) => cells[column]!.length)))
  const line = (cells: string[]) => `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  return [line(header), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}
