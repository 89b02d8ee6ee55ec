import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const read = (file: string) => readFileSync(join(root, file), 'utf8')
const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found]) => found!)

// Alike in every container, these would say nothing, or hide the port from deploy/prometheus/compose.yml.
const notForAll = ['OTEL_SERVICE_NAME', 'OTEL_EXPORTER_PROMETHEUS_PORT']
const code = globSync('lib/telemetry/*.ts', { cwd: root }).filter((file) => !file.endsWith('.test.ts'))
const inCode = [...new Set(all(code.map(read).join('\n'), /'(OTEL_\w+)'/g))]

test('docker-compose.yml gives each service the variables that docs/telemetry.md lists, and no others', () => {
  const rows = all(read('docs/telemetry.md'), /^\| (`OTEL_.*)/gm)
  const listed = rows.flatMap((row) => {
    const ofSignals = /also for one signal/.test(row) ? ['', 'TRACES_', 'METRICS_'] : ['']
    return all(row.split(' | ')[0]!, /`([^`]+)`/g)
      .flatMap(alternatives)
      .flatMap((name) => ofSignals.map((signal) => name.replace('OTLP_', `OTLP_${signal}`)))
      .flatMap((name) => (name.includes('…') ? thoseLike(name) : name))
  })
  const compose = read('docker-compose.yml')
  const passed = all(/^x-telemetry:.*\n((?: .*\n)+)/m.exec(compose)![1]!, /^ {2}(\w+):/gm)
  expect(passed.toSorted()).toEqual(listed.filter((name) => !notForAll.includes(name)).toSorted())
  for (const service of ['users', 'grants', 'idp', 'notifier', 'gateway'])
    expect(compose).toMatch(new RegExp(`\n  ${service}:\n(    .*\n|\n)*?    environment:\n      <<: \\*telemetry\n`))
})

test('what is read here of the environment of telemetry is listed', () => {
  const page = read('docs/telemetry.md')
  const listed = all(page, /`(OTEL_[^`]+)`/g).flatMap(alternatives)
  const like = (name: string) => listed.some((pattern) => matches(pattern, name))
  expect(inCode.filter((name) => !like(name))).toEqual([])
})

/** A_{B,C} is A_B and A_C. */
function alternatives(name: string): string[] {
  const [, before, inner, after] = /^(.*?)\{(.*?)\}(.*)$/.exec(name) ?? []
  return inner === undefined ? [name] : inner.split(',').map((part) => `${before}${part}${after}`)
}

function thoseLike(pattern: string): string[] {
  const found = inCode.filter((name) => matches(pattern, name))
  expect(found, pattern).not.toEqual([])
  return found
}

function matches(pattern: string, name: string): boolean {
  return new RegExp(`^${pattern.replace('…', '\\w+')}$`).test(name)
}
