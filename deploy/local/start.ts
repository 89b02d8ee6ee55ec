import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { readText } from '#lib/config/read-config'
import { provision, storingServices, type StoringService } from '../provision.ts'
import { deriveKeys } from '../derive-keys.ts'
import { gatewayPort } from './before-install/gateway-port.mjs'
import { openProgress } from './before-install/progress.mjs'
import { bundledEntry } from './bundles.ts'
import { applyGivenSetup } from './given-setup.ts'
import { greeting } from './greeting.ts'
import { openHome, type Home } from './home.ts'
import { AlreadyRunning, claimInstance } from './instance.ts'
import { freeMetricsPorts } from './metrics-ports.ts'
import { stopStale } from './pid-files.ts'
import { keepOperatorUrls } from './operator-urls.ts'
import { freePort } from './ports.ts'
import { startServers } from './servers.ts'
import { startServices } from './services.ts'
import { certificateOf, localUrl, type ServicesOptions } from './service-environment.ts'
import { onSignals } from './signals.ts'
import { keepAlive } from './supervise.ts'

/** Runs servers, schemas and roles, and the five services for `npm start`, until a signal or the end of its parent. */
export async function main(options: { dataDir?: string; entry?: ServicesOptions['entry'] } = {}): Promise<void> {
  const home = openHome(options.dataDir)
  try {
    await start(home, options.entry)
  } catch (error) {
    // Half-started parts complain when they are stopped.
    if (stopping) return
    console.error(error instanceof Error ? error.message : error)
    if (!(error instanceof AlreadyRunning)) await stopStale(home.run)
    process.exit(1)
  }
}

async function start(home: Home, entry: ServicesOptions['entry']): Promise<void> {
  const instance = claimInstance(home)
  const parts: { stop(): Promise<void> }[] = []
  let up = false
  onSignals({
    stop: async () => {
      stopping = true
      console.log('Stopping ...')
      // While parts come up, only their pid files show them.
      if (!up) await stopStale(home.run)
      for (const part of parts.toReversed()) await part.stop()
      instance.release()
    },
    runDir: home.run,
  })
  await stopStale(home.run)
  const env = withFiles(process.env)
  const wanted = await gatewayPort(env)
  const port = wanted === 0 ? await freePort(0) : wanted

  const { line, step } = openProgress(console.log)
  const waiting = new Set<string>()
  const [servers, bundled] = await step(
    'Starting the servers, and bundling the services',
    () => Promise.all([startServers({ dataDir: home.dir, env, say: line, waiting }), entry ?? bundle(waiting, line)]),
    () => `waiting for ${[...waiting].join(', ')}`,
  )
  parts.push(servers)
  const databaseUrls = await step('Preparing the databases', () =>
    provision(servers.databaseUrl, databasePasswords(home), {
      dedicated: servers.postgres !== undefined,
      say: line,
    }),
  )
  const adminTokenFile = env['ROSTER_ADMIN_TOKEN_FILE'] ?? join(home.dir, 'admin-token')
  const url = localUrl({ port, env })
  const publicUrl = env['PUBLIC_URL'] ?? url
  const encryptionKey = env['ROSTER_ENCRYPTION_KEY'] ?? home.key('encryption-key')
  const { metricsPorts, moved } = await freeMetricsPorts(env)
  const services = await step('Starting the services', () =>
    startServices(servers, {
      databaseUrls,
      port,
      publicUrl,
      adminTokenFile,
      metricsPorts,
      encryptionKey,
      env,
      entry: bundled,
    }),
  )
  const keepers = [servers.postgres, servers.nats, servers.redis].flatMap((server) =>
    server ? keepAlive(server, console.log) : [],
  )
  parts.push({ stop: async () => keepers.forEach((keeper) => keeper.dismiss()) }, services)
  up = true
  instance.announce({ url, publicUrl })
  const { redisUrl, natsUrl } = servers
  keepOperatorUrls(home, {
    databaseUrl: databaseUrls.operator!,
    natsUrl: natsUrl.operator,
    redisUrl,
    personalKey: deriveKeys(encryptionKey).operator['ROSTER_OPERATOR_PERSONAL_KEY'],
  })
  await applyGivenSetup(env, { url, adminTokenFile })
  console.log(
    greeting({
      url,
      publicUrl,
      certificate: certificateOf(env),
      certificateFile: env['TLS_CERT'] ? undefined : env['TLS_CERT_FILE'],
      adminTokenFile,
      adminPassword: adminPassword(env, adminTokenFile),
      mailboxUrl: servers.mailboxUrl,
      metricsPorts,
      moved: [...servers.moved, ...moved],
      logs: join(home.dir, 'log'),
      cwd: process.cwd(),
    }),
  )
}

async function bundle(waiting: Set<string>, say: (line: string) => void) {
  const name = 'the bundles of the services'
  waiting.add(name)
  const entry = await bundledEntry(say)
  waiting.delete(name)
  return entry
}

// Written beside the token, at the first start.
function adminPassword(env: Record<string, string | undefined>, adminTokenFile: string): string | undefined {
  const file = join(dirname(adminTokenFile), 'admin-password')
  return env['ROSTER_ADMIN_PASSWORD'] || !existsSync(file) ? undefined : readFileSync(file, 'utf8').trim()
}

function databasePasswords(home: Home): Record<StoringService | 'operator', string> {
  const made = [...storingServices, 'operator'].map((name) => [name, home.secret(`postgres-${name}`)])
  return Object.fromEntries(made) as Record<StoringService | 'operator', string>
}

// DATABASE_URL_FILE and its like: the content stands for the variable.
function withFiles(env: NodeJS.ProcessEnv): Record<string, string | undefined> {
  const names = ['DATABASE_URL', 'NATS_URL', 'REDIS_URL', 'SMTP_URL', 'ROSTER_ENCRYPTION_KEY']
  return { ...env, ...Object.fromEntries(names.map((name) => [name, readText(name, env)])) }
}

let stopping = false

if (import.meta.main) await main()
