import type { Call } from './step.ts'
import type { ClientKind } from './clients.ts'

const begin = '<!-- clients: begin -->'
const end = '<!-- clients: end -->'

/** The result of a call by a client: see `resultOf`. */
export type Result = 'works' | 'no equal' | 'not in the client'

/** The results as a Markdown table, a row for each call. */
export function tableOf(kinds: ClientKind[], calls: Call[], result: (kind: ClientKind, call: Call) => Result): string {
  const head = ['Call', ...kinds.map(({ client, protocol }) => `${client}, ${protocol}`)]
  const rows = calls.map((call) => [
    `${services[call.service]} ${call.method[0]!.toUpperCase()}${call.method.slice(1)}`,
    ...kinds.map((kind) => result(kind, call)),
  ])
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

const services: Record<Call['service'], string> = {
  admin: 'Admin',
  auth: 'Auth',
  management: 'Management',
  user: 'User (v2, v2beta)',
  session: 'Session (v2, v2beta)',
  oidc: 'OIDC (v2)',
  org: 'Organization (v2)',
  settings: 'Settings (v2)',
}

/** The page with this table between its marks. Throws where the page has no marks. */
export function inPage(page: string, table: string): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error('the page has no marks for the table')
  return `${page.slice(0, from + begin.length)}\n\n${table}\n\n${page.slice(to)}`
}
