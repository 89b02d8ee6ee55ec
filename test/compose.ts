import { execFileSync, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { projectRoot } from '../deploy/local/home.ts'
import { freePort } from '../deploy/local/ports.ts'

/**
 * Runs the operator's command and the e2e suite against docker-compose.yml, with its own project, ports and volumes:
 * `npm run test:compose [-- <vitest's arguments>]`.
 * ROSTER_STAND_IN may name a program that builds images by name where none can be pulled. --keep leaves everything
 * running.
 */
const vitestArguments = process.argv.slice(2).filter((argument) => argument !== '--keep')
const keep = process.argv.includes('--keep')
const compose = findCompose()
const [port, mailboxPort] = [await freePort(0), await freePort(0)]
const url = `http://localhost:${port}`
const adminPassword = randomBytes(12).toString('hex')
Object.assign(process.env, {
  COMPOSE_PROJECT_NAME: `roster-test-${process.pid}`,
  PORT: String(port),
  PUBLIC_URL: url,
  ROSTER_MAILBOX: `127.0.0.1:${mailboxPort}`,
  ROSTER_ADMIN_PASSWORD: adminPassword,
  // The whole suite calls from one address.
  CALLS_PER_ADDRESS: '0',
})

// A running child hears of the signal too, and ends. Then everything is taken down.
let interrupted = false
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => (interrupted = true))

let passed = false
try {
  const standIn = process.env['ROSTER_STAND_IN']
  if (standIn) run([standIn, ...imageNames()])
  run([...compose, 'build', '--quiet'])
  run([...compose, 'up', '--detach'])
  await healthy()
  // Each must find that all is well, in a system that was not used yet.
  for (const command of ['status', 'verify']) run([...compose, 'run', '--rm', '-T', 'roster', command])
  passed = test()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
}
if (!passed && !interrupted) run([...compose, 'logs', '--no-color', '--tail=50'])
if (keep)
  console.log(`${url} stays; end it with: ${compose.join(' ')} -p ${process.env['COMPOSE_PROJECT_NAME']} down -v`)
else run([...compose, 'down', '--volumes'])
process.exit(passed ? 0 : 1)

function findCompose(): string[] {
  const candidates = [['docker', 'compose'], ['docker-compose']]
  const works = ([command, ...args]: string[]) => spawnSync(command!, [...args, 'version']).status === 0
  const found = candidates.find(works)
  if (found) return found
  console.error('Docker Compose is missing: install it and try again.')
  process.exit(1)
}

// The images of the servers that start without a profile, and of the Dockerfile.
function imageNames(): string[] {
  const read = (file: string) => readFileSync(join(projectRoot, file), 'utf8')
  const named = [
    ...read('docker-compose.yml').matchAll(/^ +image: (\S+:\S+)$(?!\n +profiles:)/gm),
    ...read('deploy/Dockerfile').matchAll(/^FROM (\S+:\S+)/gm),
  ]
  return [...new Set(named.map(([, name]) => name!))]
}

async function healthy(): Promise<void> {
  let states: string[] = []
  for (const deadline = Date.now() + 180_000; Date.now() < deadline; await sleep(1000)) {
    const filter = `label=com.docker.compose.project=${process.env['COMPOSE_PROJECT_NAME']}`
    const format = '{{.Label "com.docker.compose.service"}}: {{.Status}}'
    states = output(['docker', 'ps', '--all', '--filter', filter, '--format', format]).split('\n')
    if (states.every((state) => /: (Up (?!.*\((un|health: )).*|Exited \(0\).*)$/.test(state))) return
    const broken = states.filter((state) => /\(unhealthy\)|: Restarting|Exited \([1-9]/.test(state))
    if (interrupted) throw new Error('Interrupted.')
    if (broken.length > 0) throw new Error(`Not healthy: ${broken.join(', ')}`)
  }
  throw new Error(`Not healthy within three minutes:\n${states.join('\n')}`)
}

function test(): boolean {
  const env = {
    ...process.env,
    ROSTER_E2E_URL: url,
    ROSTER_E2E_ADMIN_TOKEN: output([...compose, 'exec', '-T', 'users', 'cat', '/var/lib/roster/admin/admin-token']),
    ROSTER_E2E_ADMIN_PASSWORD: adminPassword,
    ROSTER_E2E_MAILBOX_URL: `http://127.0.0.1:${mailboxPort}`,
  }
  const vitest = [join(projectRoot, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'e2e', ...vitestArguments]
  return spawnSync(process.execPath, vitest, { cwd: projectRoot, env, stdio: 'inherit' }).status === 0
}

function run([command, ...args]: string[]): void {
  execFileSync(command!, args, { cwd: projectRoot, stdio: 'inherit' })
}

function output([command, ...args]: string[]): string {
  return execFileSync(command!, args, { cwd: projectRoot, encoding: 'utf8' }).trim()
}
