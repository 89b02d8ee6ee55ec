import { documentPart } from '../support/document-part.ts'
import type { Outcome } from './roll.ts'

/** Writes the numbers of a run between their markers in docs/upgrading.md. */
export function writeNumbers(outcome: Outcome): void {
  const made = `${new Date().toISOString().slice(0, 10)}:\n\n${tableOf(outcome)}`
  documentPart('upgrading.md', 'numbers').replace(made)
}

/** A row for each stretch of the load, and all of them together. */
export function tableOf({ stretches, unanswered, errors, violations }: Outcome): string {
  const sum = (of: 'writes' | 'retries' | 'seconds') => stretches.reduce((total, stretch) => total + stretch[of], 0)
  const cells = stretches.map(({ name, writes, retries, seconds }) => [
    name,
    `${writes}`,
    `${retries}`,
    seconds.toFixed(1),
  ])
  const rows = [
    ['load while', 'writes', 'retries', 'seconds'],
    ['---', '---', '---', '---'],
    ...cells,
    ['**all**', `**${sum('writes')}**`, `**${sum('retries')}**`, `**${sum('seconds').toFixed(1)}**`],
  ]
  const answers = Object.entries(errors).map(([error, count]) => `${count} × \`${error}\``)
  return (
    rows.map((row) => `| ${row.join(' | ')} |`).join('\n') +
    `\n\nErrors that a retry healed: ${answers.join(', ') || 'none'}. Attempts without an answer: ${unanswered}. Violations: ${violations.length}.`
  )
}
