import { documentPart } from '../support/document-part.ts'
import type { Results } from './suite.ts'

/** Writes the table of a run between its markers in docs/reliability.md. */
export function writeTable(results: Results): void {
  const made = `${new Date().toISOString().slice(0, 10)}: ${summarize(results)}\n\n${table(results)}`
  documentPart('reliability.md', 'failovers').replace(made)
}

/** A run in a sentence, and what replication costs. */
export function summarize({ results, price, readers }: Results): string {
  const sum = (of: 'writes' | 'lost' | 'doubled' | 'stream') => results.reduce((total, result) => total + result[of], 0)
  const kept =
    `${sum('writes')} writes acknowledged, ${sum('lost')} lost, ${sum('doubled')} doubled; ` +
    `${sum('stream')} faults of the stream, ${readers.length} of webhooks, followers and mails.`
  if (!price) return kept
  const inMs = (milliseconds: number) => `${milliseconds.toFixed(1)} ms`
  return (
    `${kept} A write alone took ${inMs(price.on)} with \`synchronous_commit = on\`, ${inMs(price.remote_apply)} with ` +
    `\`remote_apply\`, and ${inMs(price.local)} without a wait for the standby (median).`
  )
}

function table({ results }: Results): string {
  const rows = results.map(({ name, writes, takeover, gap, slowest, lost, doubled, stream }) => {
    const seconds = [takeover, gap, slowest].map((number) => `${number.toFixed(1)} s`)
    return [name, String(writes), ...seconds, String(lost), String(doubled), String(stream)]
  })
  const header = [
    'trouble',
    'writes',
    'taken over after',
    'without a write',
    'slowest write',
    'lost',
    'doubled',
    'faults of the stream',
  ]
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')
}
