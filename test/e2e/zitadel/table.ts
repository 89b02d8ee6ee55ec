import type { Call } from './step.ts'
import type { ClientKind } from './clients.ts'

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
