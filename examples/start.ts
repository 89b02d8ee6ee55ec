import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../deploy/local/home.ts'
import { type Example, registerExample } from './register.ts'

/**
 * `npm run example`: registers the web server of this folder as an application of the Roster that `npm start` runs, and
 * starts it. `npm run example -- page` starts the page and the API that it calls.
 */
async function main(): Promise<void> {
  const issuer = process.env['ROSTER_URL'] ?? 'http://localhost:8080'
  const tokenFile = join(projectRoot, '.roster/admin-token')
  if (!existsSync(tokenFile)) throw new Error(`There is no ${tokenFile}. First call: npm start`)
  const which = process.argv[2] ?? 'web'
  if (which !== 'web' && which !== 'page') throw new Error(`There is no example ${which}: web, or page`)
  const example = await registerExample({ issuer, token: readFileSync(tokenFile, 'utf8').trim(), which })
  for (const { file, env } of programsOf(example)) run(file, env)
  console.log('Sign in as admin, with the password in .roster/admin-password, or as anybody else who is in Roster.')
}

function programsOf({ which, issuer, clientId, clientSecret, projectId }: Example) {
  const common = { ISSUER: issuer, CLIENT_ID: clientId }
  if (which === 'web') return [{ file: 'web-server.js', env: { ...common, CLIENT_SECRET: clientSecret } }]
  return [
    {
      file: 'resource-server.js',
      env: { ...common, PROJECT_ID: projectId, ALLOWED_ORIGIN: 'http://localhost:3002', PORT: '3001' },
    },
    { file: 'page/server.js', env: { ...common, API: 'http://localhost:3001/books', PORT: '3002' } },
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
