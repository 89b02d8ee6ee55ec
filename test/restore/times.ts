import type { OperatedHouse } from '../support/operated-house.ts'
import { documentPart } from '../support/document-part.ts'
import { isRenewing } from '../support/expect-part.ts'

/** What was measured of a way to back up and restore. */
export interface Times {
  way: string
  /** Users and events of the database. */
  size: string
  backup: string
  /** What the test lost, at the worst moment. */
  lost: string
  /** From the first line of the restore until calls are answered. */
  answers: string
  /** And until everything is in the stream again. */
  published: string
}

const headings = [
  'Way',
  'Users, events',
  'A backup takes',
  'Lost at the worst moment (RPO)',
  'Restored until calls are answered (RTO)',
  'Until all is in the stream',
]

/** Writes these times to the console and, with `-u`, into docs/backup.md. */
export function noteTimes({ way, ...times }: Times): void {
  console.log(way, times)
  if (!isRenewing()) return
  const part = documentPart('backup.md', 'times')
  const others = part.text.split('\n').slice(2)
  const rows = [...others.filter((row) => !row.startsWith(`| ${way} |`)), row([way, ...Object.values(times)])]
  part.replace([row(headings), row(headings.map(() => '---')), ...rows].join('\n'))
}

/** The users and events of a Roster. */
export async function sizeOf({ admin }: OperatedHouse): Promise<string> {
  const [row] = await admin<[{ users: number; events: number }]>`
    select (select count(*)::int from roster_users.aggregates where type = 'user') as users,
      (select count(*)::int from roster_users.events) as events
  `
  return `${row.users}, ${row.events}`
}

export const seconds = (milliseconds: number) => `${(milliseconds / 1000).toFixed(milliseconds < 10_000 ? 1 : 0)} s`

function row(cells: string[]): string {
  return `| ${cells.join(' | ')} |`
}
