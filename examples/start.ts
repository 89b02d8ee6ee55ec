import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { projectRoot } from '../deploy/local/home.ts'
import { runningInstance } from '../deploy/local/instance.ts'
import { freePort } from '../deploy/local/ports.ts'
import { type Example, registerExample } from './register.ts'
import { keepSecret, readSecret } from './secret-file.ts'

const home = join(projectRoot, '.roster')
const tokenFile = process.env['ROSTER_ADMIN_TOKEN_FILE'] ?? join(home, 'admin-token')

/**
 * `npm run example`: registers the web server of this folder as an application of the Roster that `npm start` runs, and
 * starts it. `npm run example -- page` starts the page and the API that it calls. Each takes `--port`, or PORT, or the
 * next free one.
 */
async function main(): Promise<void> {
  const { which, wanted } = readArguments()
  const issuer = findIssuer()
  const token = readToken()
  const port = await freePort(wanted)
  if (port !== wanted && wanted !== 0) console.log(`Another program has port ${wanted}: this is at ${port}.`)
  const clientSecret = readSecret(dirname(tokenFile), issuer, which)
  const origin = `http://localhost:${port}`
  const example = await registerExample({ issuer, token, which, origin, clientSecret }).catch((cause: unknown) => {
    throw isUnanswered(cause) ? new Error(`No Roster answers at ${issuer}. ${startIt}`, { cause }) : cause
  })
  keepSecret(dirname(tokenFile), issuer, example)
  for (const { file, env } of await programsOf(example, port)) run(file, env)
  console.log('Sign in as admin, with the password in .roster/admin-password, or as anyone else who is in Roster.')
}

const startIt = `Start it in another terminal of ${projectRoot}: npm start`
const usualPorts = { web: 3000, page: 3002 }

function readArguments() {
  const { values, positionals } = parseArgs({ options: { port: { type: 'string' } }, allowPositionals: true })
  const [which = 'web', ...more] = positionals
  if ((which !== 'web' && which !== 'page') || more.length > 0)
    throw new Error(`There is no example ${positionals.join(' ')}: npm run example -- web, or page`)
  const port = values.port ?? process.env['PORT'] ?? ''
  if (port !== '' && !(/^\d+$/.test(port) && Number(port) <= 65_535))
    throw new Error(`The port must be from 0 to 65535, and not ${port}.`)
  return { which, wanted: port === '' ? usualPorts[which] : Number(port) } as const
}

function findIssuer(): string {
  const issuer = process.env['ROSTER_URL'] ?? runningInstance(home)?.publicUrl
  if (issuer === undefined) throw new Error(`Roster is not running, or not up yet. ${startIt}`)
  return issuer
}

function readToken(): string {
  if (!existsSync(tokenFile)) throw new Error(`There is no ${tokenFile}, which registers the example. ${startIt}`)
  return readFileSync(tokenFile, 'utf8').trim()
}

function isUnanswered(error: unknown): boolean {
  return error instanceof TypeError && error.message === 'fetch failed'
}

async function programsOf({ which, issuer, clientId, clientSecret, projectId }: Example, port: number) {
  const common = { ISSUER: issuer, CLIENT_ID: clientId }
  const own = { ...common, PORT: String(port) }
  if (which === 'web') return [{ file: 'web-server.js', env: { ...own, CLIENT_SECRET: clientSecret } }]
  const apiPort = String(await freePort(3001))
  const allowed = `http://localhost:${port}`
  return [
    { file: 'resource-server.js', env: { ...common, PROJECT_ID: projectId, ALLOWED_ORIGIN: allowed, PORT: apiPort } },
    { file: 'page/server.js', env: { ...own, API: `http://localhost:${apiPort}/books` } },
  ]
}

function run(file: string, env: Record<string, string>) {
  const child = spawn(process.execPath, [join(import.meta.dirname, file)], {
    env: { ...process.env, ...env },
    stdio: 'inherit',
  })
  child.on('exit', (code) => process.exit(code ?? 1))
  process.on('exit', () => child.kill())
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(0))
await main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
})
