import { execFile, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { spawnOperator } from '#test/support/operator'
import { deriveKeys } from '../derive-keys.ts'
import { freePort } from '../local/ports.ts'
import { startServers, type Servers } from '../local/servers.ts'
import { mallocEnvironment, nodeFlags, startServices, type Services } from '../local/services.ts'
import { provision, storingServices, type StoringService } from '../provision.ts'

// Outside the project, so that no node_modules is in reach.
const folder = mkdtempSync(join(tmpdir(), 'roster-bundle-'))
const file = (name: string) => join(folder, 'bundle', name)
const root = join(import.meta.dirname, '../..')
let servers: Servers
let services: Services
let databaseUrls: Awaited<ReturnType<typeof provision>>
let token: string

beforeAll(async () => {
  ;[servers] = await Promise.all([startServers({ ephemeral: true, ports: 'random' }), bundleAsImage(file('.'))])
  // Without a variable of OpenTelemetry no process asks for it.
  rmSync(file('telemetry.mjs'))
  const roles = [...storingServices, 'operator']
  const passwords = roles.map((name) => [name, servers.home.secret(`postgres-${name}`)])
  databaseUrls = await provision(servers.databaseUrl, Object.fromEntries(passwords) as Record<StoringService, string>)
  services = await startServices(servers, {
    databaseUrls,
    port: await freePort(0),
    adminTokenFile: join(folder, 'admin-token'),
    encryptionKey: servers.home.key('encryption-key'),
    entry: (name) => file(`${name}.mjs`),
  })
  token = readFileSync(join(folder, 'admin-token'), 'utf8').trim()
}, 120_000)
afterAll(async () => {
  await services?.stop()
  await servers?.stop()
  rmSync(folder, { recursive: true, force: true })
})

// Runs `npm run bundle` on what .dockerignore lets into the build of the image, and on nothing else.
async function bundleAsImage(target: string): Promise<void> {
  const [context, rules] = [join(folder, 'context'), join(folder, 'rules')]
  const lines = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
  // Git reads these rules as Docker does, once they name the root.
  writeFileSync(rules, lines.map((line) => line.replace(/^(!?)(?!#|\*\*)(?=.)/, '$1/')).join('\n'))
  const list = (...args: string[]) =>
    spawnSync('git', ['ls-files', ...args], { cwd: root, encoding: 'utf8' })
      .stdout.trim()
      .split('\n')
  const left = new Set(list('--cached', '--ignored', `--exclude-from=${rules}`))
  for (const name of list()) if (!left.has(name)) cpSync(join(root, name), join(context, name))
  cpSync(join(root, 'gen'), join(context, 'gen'), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(context, 'node_modules'))
  await promisify(execFile)(process.execPath, [join(context, 'deploy/bundle/bundle.ts'), target])
}

test('five bundles alone are a whole Roster, without telemetry too: a user is added, and the mail comes', async () => {
  const user = {
    userName: 'ada',
    profile: { firstName: 'Ada', lastName: 'Lovelace' },
    email: { email: 'ada@example.com' },
  }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const added = await fetch(`${services.url}/v2/users/human`, { method: 'POST', headers, body: JSON.stringify(user) })
  expect(added.status).toBe(200)
  const mail = async () => (await fetch(`${servers.mailboxUrl}/view/latest.txt?query=to:ada@example.com`)).text()
  await vi.waitFor(async () => expect(await mail()).toContain('Ada'), { timeout: 30_000 })
})

test('no bundle of a service holds the telemetry that all of them share', () => {
  for (const name of ['users', 'grants', 'idp', 'notifier', 'gateway'])
    expect(readFileSync(file(`${name}.mjs`), 'latin1')).not.toContain('OTEL_BSP_MAX_QUEUE_SIZE')
})

test.each(['/ui/verify-email', '/openapi.json', '/docs', '/docs/swagger-ui.css', '/docs/swagger-ui-bundle.js'])(
  'a bundle serves %s as the sources do',
  async (path) => expect((await fetch(`${services.url}${path}`)).status).toBe(200),
)

test('the bundle of the health check finds a service', async () => {
  const ask = (name: 'users' | 'gateway') =>
    promisify(execFile)(process.execPath, [file('healthcheck.mjs'), name], {
      env: { NATS_URL: servers.natsUrl[name], PORT: new URL(services.url).port },
    })
  await Promise.all([ask('users'), ask('gateway')])
})

test("the bundle of the operator's command looks at them", async () => {
  const settings = {
    ROSTER_OPERATOR_DATABASE_URL: databaseUrls.operator!,
    ROSTER_OPERATOR_NATS_URL: servers.natsUrl.operator,
    ROSTER_OPERATOR_REDIS_URL: servers.redisUrl,
    ...deriveKeys(servers.home.key('encryption-key')).operator,
  }
  const roster = (...args: string[]) => spawnOperator(args, settings, file('roster.mjs'))
  await vi.waitFor(async () => expect((await roster('status')).out).toContain('All is well.'), { timeout: 30_000 })
  expect(await roster('verify')).toMatchObject({ status: 0, out: 'Nothing differs.\n' })
})

test('the bundle of a program does the work of that program alone', () => {
  for (const name of ['users', 'grants', 'idp', 'notifier', 'gateway', 'operator'])
    mkdirSync(join(folder, 'keys', name), { recursive: true })
  const made = run('compose-keys.mjs', [join(folder, 'root'), join(folder, 'keys')])
  expect(made).toMatchObject({ status: 0, stdout: `made ${join(folder, 'root')}\n` })
  expect(readFileSync(join(folder, 'keys/gateway/ROSTER_CALLER_KEYS'), 'utf8')).toMatch(/^users:/)
  expect(run('provision.mjs', [])).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/DB_PASSWORD.* is not set/),
  })
})

test('a stack shows the line of the source', () => {
  const { stdout } = run('users.mjs', [])
  const { stack } = (JSON.parse(stdout) as { err: { stack: string } }).err
  const [, source, line] =
    /\((?:file:\/\/)?[^()]*\/(lib\/config\/read-config\.ts):(\d+):\d+\)/.exec(stack) ?? expect.fail(stack)
  expect(readFileSync(join(root, source!), 'utf8').split('\n')[Number(line) - 1]).toContain('new Error(')
})

test('a bundle takes at most nine tenths of the memory of its sources to load', () => {
  const taken = (main: string) => {
    // Without settings a service ends as soon as it is loaded.
    const reportMemory = 'data:text/javascript,process.on("exit",()=>console.error(process.memoryUsage.rss()))'
    const { stderr } = spawnSync(process.execPath, ['--import', reportMemory, main], { encoding: 'utf8', env: {} })
    return Number(stderr)
  }
  for (const name of ['idp', 'gateway']) {
    const sources = taken(join(root, 'services', name, 'main.ts'))
    expect(sources).toBeGreaterThan(0)
    expect(taken(file(`${name}.mjs`)) / sources).toBeLessThan(0.9)
  }
})

test.runIf(process.platform === 'linux')('a service gives back memory of its start', { timeout: 60_000 }, async () => {
  const status = () => readFileSync(`/proc/${services.handles.idp.pid}/status`, 'latin1')
  const read = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status())![1])
  await vi.waitFor(() => expect(read('VmRSS') / read('VmHWM')).toBeLessThan(0.9), { timeout: 50_000, interval: 500 })
})

test('containers run a service with the same flags and variables as npm start', () => {
  const dockerfile = readFileSync(join(root, 'deploy/Dockerfile'), 'utf8')
  const [, entrypoint] = /^ENTRYPOINT (.*)$/m.exec(dockerfile)!
  expect(JSON.parse(entrypoint!)).toEqual(['node', ...nodeFlags])
  for (const [name, value] of Object.entries(mallocEnvironment)) expect(dockerfile).toMatch(`\nENV ${name}=${value}\n`)
})

test('the licence of every package comes along', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { dependencies: object }
  const text = readFileSync(file('LICENSES.txt'), 'utf8')
  for (const name of Object.keys(dependencies)) expect(text).toMatch(new RegExp(`^${name} \\d.*: .+$`, 'm'))
  expect(text).toContain('Permission is hereby granted')
})

function run(name: string, args: string[]) {
  return spawnSync(process.execPath, [...nodeFlags, file(name), ...args], { encoding: 'utf8', env: {} })
}
