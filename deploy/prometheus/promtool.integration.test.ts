import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { findProgram } from '../local/servers/program.ts'

const run = promisify(execFile)
const here = import.meta.dirname

test('each alert comes with its trouble, not before its time, and ends with it', { timeout: 300_000 }, async () => {
  const { stdout } = await promtool(['test', 'rules', 'roster.test.yml'])
  expect(stdout).toContain('SUCCESS')
})

// Debian's Prometheus does not know Kubernetes, so no test reads kubernetes.yml here.
test('the Prometheus of docker-compose.yml can read its settings', async () => {
  const { stdout } = await promtool(['check', 'config', '--syntax-only', 'compose.yml'])
  expect(stdout).toContain('SUCCESS')
})

async function promtool(args: string[]) {
  const wanted = { program: 'promtool', debianPackage: 'prometheus', image: 'prom/prometheus:v3.5.0' }
  const found = await findProgram(wanted, console.log)
  if ('path' in found) return run(found.path, args, { cwd: here })
  const container = ['run', '--rm', '--volume', `${here}:/rules:ro`, '--workdir', '/rules', '--entrypoint', 'promtool']
  return run('docker', [...container, found.image, ...args])
}
