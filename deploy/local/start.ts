import { join } from 'node:path'
import { readText } from '#lib/config/read-config'
import { provision, storingServices, type StoringService } from '../provision.ts'
import { deriveKeys } from '../derive-keys.ts'
import { bundledEntry } from './bundles.ts'
import { greeting } from './greeting.ts'
import { openHome, type Home } from './home.ts'
import { AlreadyRunning, claimInstance } from './instance.ts'
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

  const [servers, bundled] = await Promise.all([
    startServers({ dataDir: home.dir, env }),
    entry ?? bundledEntry(console.log),
  ])
  parts.push(servers)
  const databaseUrls = await provision(servers.databaseUrl, databasePasswords(home), {
    dedicated: servers.postgres !== undefined,
    say: console.log,
  })
  const port = env['PORT'] ? Number(env['PORT']) : await freePort(8080)
  const adminTokenFile = env['ROSTER_ADMIN_TOKEN_FILE'] ?? join(home.dir, 'admin-token')
  const url = localUrl({ port, env })
  const publicUrl = env['PUBLIC_URL'] ?? url
  const encryptionKey = env['ROSTER_ENCRYPTION_KEY'] ?? home.key('encryption-key')
  const services = await startServices(servers, {
    databaseUrls,
    port,
    publicUrl,
    adminTokenFile,
    encryptionKey,
    env,
    entry: bundled,
  })
  const keepers = [servers.postgres, servers.nats, servers.redis].flatMap((server) =>
    server ? keepAlive(server, console.log) : [],
  )
  parts.push({ stop: async () => keepers.forEach((keeper) => keeper.dismiss()) }, services)
  up = true
  instance.announce(url)
  const { redisUrl, natsUrl } = servers
  keepOperatorUrls(home, {
    databaseUrl: databaseUrls.operator!,
    natsUrl: natsUrl.operator,
    redisUrl,
    personalKey: deriveKeys(encryptionKey).operator['ROSTER_OPERATOR_PERSONAL_KEY'],
  })
  console.log(
    greeting({
      url,
      certificate: certificateOf(env),
      certificateFile: env['TLS_CERT'] ? undefined : env['TLS_CERT_FILE'],
      adminTokenFile,
      mailboxUrl: servers.mailboxUrl,
      logs: join(home.dir, 'log'),
      cwd: process.cwd(),
    }),
  )
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
