import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { alerts } from './alerts.ts'

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
const page = read('../../docs/operations.md')
const tests = read('roster.test.yml')

// Another test holds the table against the metrics that processes expose.
const rows = [...page.matchAll(/^\| `([a-z0-9_]+)` \| (counter|gauge|histogram)[^|]*\| ([^|]*) \|/gm)]
const labels = new Map(
  rows.flatMap(([, name, kind, labels]) => {
    const own = [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label!)
    if (kind !== 'histogram') return [[name!, own] as const]
    const parts = ['', '_count', '_sum', '_bucket'].map((part) => name + part)
    return parts.map((part) => [part, part.endsWith('_bucket') ? [...own, 'le'] : own] as const)
  }),
)
/** Labels that Prometheus sets itself. */
const targets = ['job', 'service', 'instance']

test.each(alerts())('$name reads only metrics and labels that there are', ({ expr }) => {
  for (const name of metricsOf(expr)) expect([name, labels.has(name)]).toEqual([name, true])
  for (const [, name, matchers] of expr.matchAll(/([a-z]\w*)\{([^}]*)\}/g))
    for (const [, label] of matchers!.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g))
      expect([name, label, [...targets, ...(labels.get(name!) ?? [])].includes(label!)]).toEqual([name, label, true])
})

test('the runbooks name only metrics and labels that there are', () => {
  const known = new Set([...labels.keys(), ...[...labels.values()].flat()])
  const text = page.replaceAll(/^\|.*$|^```[^]*?^```$/gm, '')
  const quoted = [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!)
  const named = quoted.flatMap((code) => code.match(/\b(?:db|http|nodejs|process|roster|rpc)_[a-z0-9_]+/g) ?? [])
  expect(named).toContain('rpc_status_code')
  const roles = /^roster_users(_2)?$/
  expect(named.filter((name) => !known.has(name) && !roles.test(name))).toEqual([])
})

test.each(alerts())('promtool sees $name come', ({ name }) => {
  expect(tests).toMatch(new RegExp(`alertname: ${name}\\s+exp_alerts:(?: &\\w+)?\\s+- exp_labels:`))
})

/** What is left of an expression without its strings, its lists of labels and its functions. */
function metricsOf(expr: string): string[] {
  const bare = expr
    .replaceAll(/"[^"]*"/g, '')
    .replaceAll(/\{[^}]*\}/g, '')
    .replaceAll(/\b(?:by|on|ignoring|without|group_left|group_right)\s*\([^)]*\)/g, '')
  return [...bare.matchAll(/\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b(?!\s*\()/g)].map(([name]) => name)
}
