import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

// Lists which modules of OpenTelemetry a process loads.
const listModules = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module'
  const loaded = new Set()
  registerHooks({ load(url, context, next) { loaded.add(/@opentelemetry\\/[\\w-]+/.exec(url)?.[0]); return next(url, context) } })
  process.on('exit', () => console.log(JSON.stringify([...loaded].filter(Boolean).sort())))
`)}`

const program = `
  import { startTelemetry } from '#lib/telemetry/start'
  import { telemetry } from '#lib/telemetry/telemetry'
  import { readWanted } from '#lib/telemetry/wanted'
  await import('#lib/process')
  const stop = await startTelemetry({ name: 'example', version: '1' }, readWanted(process.env), console.error)
  console.log(Object.keys(telemetry).filter((name) => telemetry[name]).join())
  await stop()
`

function run(environment: Record<string, string>): string[] {
  const args = ['--import', listModules, '--input-type=module', '-e', program]
  const output = execFileSync(process.execPath, args, { cwd: import.meta.dirname, env: environment, encoding: 'utf8' })
  return output.trimEnd().split('\n')
}

test.each([{}, { OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' }, { OTEL_TRACES_EXPORTER: 'none' }])(
  'with %j no package of OpenTelemetry is loaded',
  (environment) => expect(run(environment)).toEqual(['', '[]']),
)

test('with an exporter the packages are loaded', () => {
  const [, loaded] = run({ OTEL_METRICS_EXPORTER: 'otlp' })
  expect(JSON.parse(loaded!)).toContain('@opentelemetry/sdk-metrics')
})
