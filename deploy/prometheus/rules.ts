import { type Alert, alerts } from './alerts.ts'

const runbooks = 'docs/operations.md'

/** Writes rules as Prometheus reads them. `every` is the time between two looks; Prometheus has a default. */
export function rulesOf(list: Alert[], every?: string): string {
  return [
    '# Made from alerts.ts: `npm run test:unit -- -u`.',
    'groups:',
    '  - name: roster',
    ...(every ? [`    interval: ${every}`] : []),
    '    rules:',
    ...list.flatMap(rule),
    '',
  ].join('\n')
}

function rule({ name, expr, for: time, severity, summary }: Alert): string[] {
  return [
    `      - alert: ${name}`,
    // JSON is YAML, too.
    `        expr: ${JSON.stringify(expr)}`,
    `        for: ${time}`,
    `        labels: { severity: ${severity} }`,
    '        annotations:',
    `          summary: ${JSON.stringify(summary)}`,
    `          runbook: ${runbooks}#${name.toLowerCase()}`,
  ]
}

/** The rules of a running Roster: the content of roster.rules.yml. */
export const rules = rulesOf(alerts())
