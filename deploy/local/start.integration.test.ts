import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { makeCertificate } from '../../services/gateway/testing/certificate.ts'
import { runningInstance } from './instance.ts'
import { isAlive, type PidEntry } from './pid-files.ts'
import { freePort } from './ports.ts'

let folder: string
let running: Started[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'roster-start-test-'))
  chmodSync(folder, 0o711)
  running = []
  writeFileSync(join(folder, 'gateway.ts'), gateway)
  writeFileSync(join(folder, 'other.ts'), other)
  writeFileSync(join(folder, 'start.ts'), starter)
})
afterEach(async () => {
  for (const { process } of running) process.kill('SIGKILL')
  await vi.waitFor(() => expect(pidFiles().filter(isAlive)).toEqual([]), { timeout: 15_000, interval: 100 })
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

test('it brings all up, says where, refuses a second start, and stops all at Ctrl-C', { timeout: 60_000 }, async () => {
  const first = await up()
  const names = pidFiles()
    .map((entry) => entry.name)
    .toSorted()
  expect(names).toEqual(['gateway', 'grants', 'idp', 'nats', 'notifier', 'postgres', 'redis', 'users'])
  expect(runningInstance(join(folder, 'home'))).toMatchObject({ url: /address +(\S+)/.exec(first.output())![1] })
  const { databaseUrl, natsUrl } = JSON.parse(readFileSync(join(folder, 'home/operator.json'), 'utf8'))
  expect([databaseUrl, natsUrl].map((url) => new URL(url).username)).toEqual(['roster_operator', 'operator'])
  const second = launch()
  expect(await second.ended).toBe(1)
  expect(second.output()).toMatch(/^Roster runs already: process \d+, http:\/\/localhost:\d+; stop that one first\.$/m)
  const entries = pidFiles()
  first.process.kill('SIGINT')
  first.process.kill('SIGINT') // npm passes on what the terminal sent already
  expect(await first.ended).toBe(0)
  expect(entries.filter(isAlive)).toEqual([])
  expect(runningInstance(join(folder, 'home'))).toBeUndefined()
  expect(readFileSync(join(folder, 'home/log/users.log'), 'utf8')).toContain('bye')
})

test(
  'what listens behind the gateway goes to the next free port, and the greeting says so',
  { timeout: 60_000 },
  async () => {
    const metrics = await freePort(0)
    const held = [8025, metrics].map((port) => createServer().listen(port, '127.0.0.1'))
    onTestFinished(() => held.forEach((server) => server.close()))
    // One that another program has already is as good.
    await Promise.all(held.map((server) => once(server, 'listening').catch(() => {})))
    const prometheus = { OTEL_METRICS_EXPORTER: 'prometheus', OTEL_EXPORTER_PROMETHEUS_PORT: String(metrics) }
    const output = (await up(prometheus)).output()
    const [, mailbox] = /moved +the mailbox to port (\d+): another program holds 8025$/m.exec(output)!
    expect(output).toMatch(new RegExp(`mailbox +http://localhost:${mailbox}$`, 'm'))
    expect(output).toContain(`"localhost:${mailbox}/view/latest.txt`)
    const [, users] = new RegExp(
      `moved +the metrics of users to port (\\d+): another program holds ${metrics}$`,
      'm',
    ).exec(output)!
    expect(output).toContain(`http://localhost:${users}/metrics   (users)`)
    expect(environment('users')).toContain(`OTEL_EXPORTER_PROMETHEUS_PORT=${users}\0`)
  },
)

test('the gateway keeps its port, and says at once who holds it', { timeout: 60_000 }, async () => {
  const holder = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => void holder.close())
  await once(holder, 'listening')
  const { port } = holder.address() as AddressInfo
  const started = launch({ PORT: String(port) })
  expect(await started.ended).toBe(1)
  expect(started.output()).toMatch(
    new RegExp(`^Port ${port} is held by node \\(process ${process.pid}, .* PORT=\\d+ npm start\\n$`),
  )
  expect(existsSync(join(folder, 'home/postgres'))).toBe(false)
})

test('each service is given the secrets that it needs and no other', { timeout: 60_000 }, async () => {
  await up()
  const given = (name: string) =>
    JSON.parse(readFileSync(join(folder, `home/log/${name}.log`), 'utf8').split('\n')[0]!) as string[]
  const common = ['NATS_URL', 'PUBLIC_URL']
  await vi.waitFor(() => {
    const keys = ['ROSTER_CALLER_KEY', 'ROSTER_ENCRYPTION_KEY']
    expect(given('users')).toEqual(['DATABASE_URL', ...common, 'ROSTER_ADMIN_TOKEN_FILE', ...keys])
    expect(given('grants')).toEqual(['DATABASE_URL', ...common, ...keys])
    expect(given('idp')).toEqual(['DATABASE_URL', ...common, ...keys])
    expect(given('notifier')).toEqual(['DATABASE_URL', ...common, 'REDIS_URL', ...keys, 'SMTP_URL'])
    expect(given('gateway')).toEqual(['NATS_KEEPER_URL', 'NATS_URL', 'PORT', 'PUBLIC_URL', 'ROSTER_CALLER_KEYS'])
  })
})

test(
  'the gateway listens on the loopback interface, unless HOST says otherwise, and beside a setup file that is refused',
  { timeout: 60_000 },
  async () => {
    const host = () =>
      readFileSync(join(folder, 'home/log/gateway.log'), 'utf8')
        .match(/^listens at (.*)$/gm)
        ?.at(-1)
    const first = await up()
    await vi.waitFor(() => expect(host()).toBe('listens at 127.0.0.1'))
    first.process.kill('SIGINT')
    await first.ended
    const setup = join(folder, 'setup.yaml')
    writeFileSync(setup, 'organizations:\n  - { id: acme, nmae: Acme }\n')
    const refused = await up({ HOST: '::', ROSTER_SETUP: setup })
    expect(refused.output()).toContain(`${setup}:2: organizations[0].nmae: there is no such field`)
    await vi.waitFor(() => expect(host()).toBe('listens at ::'))
  },
)

test(
  'with TLS it becomes ready with the setup file applied, and the lines that it prints work when pasted',
  { timeout: 60_000 },
  async () => {
    const { cert, key, remove } = makeCertificate()
    onTestFinished(remove)
    writeFileSync(join(folder, 'start.ts'), realStarter)
    const setup = join(folder, 'setup.yaml')
    writeFileSync(setup, 'organizations:\n  - { id: acme, name: Acme }\n')
    const started = await up({ TLS_CERT_FILE: cert, TLS_KEY_FILE: key, ROSTER_SETUP: setup })
    expect(started.output()).toContain('setup: organization acme: is made\nsetup: 1 change\n')
    expect(started.output()).toMatch(/address +https:\/\/localhost:\d+ /)
    const [lines] = /AUTH=[^]*(?=\nCtrl-C)/.exec(started.output())!
    const { stdout } = await promisify(execFile)('bash', ['-ec', lines])
    const done = { details: { sequence: expect.any(String) } }
    expect(stdout.split(/(?<=\})(?=\{)/).map((answer) => JSON.parse(answer))).toMatchObject([done, done, done])
    expect(environment('gateway')).toContain('TLS_KEY')
    for (const name of ['users', 'grants', 'idp', 'notifier']) expect(environment(name)).not.toContain('TLS_')
  },
)

test('a kill -9 of the starter leaves no orphan, and the next start finds its data', { timeout: 60_000 }, async () => {
  const first = await up()
  const entries = pidFiles()
  const before = readFileSync(join(folder, 'home/secrets.json'), 'utf8')
  first.process.kill('SIGKILL')
  await first.ended
  await vi.waitFor(() => expect(entries.filter(isAlive)).toEqual([]), { timeout: 15_000, interval: 50 })
  await up()
  expect(readFileSync(join(folder, 'home/secrets.json'), 'utf8')).toBe(before)
})

test(
  'a service that ends before readiness stops the start and shows the end of its log',
  { timeout: 60_000 },
  async () => {
    writeFileSync(join(folder, 'other.ts'), `console.error("KEY is not set"); process.exit(1);`)
    writeFileSync(join(folder, 'gateway.ts'), other)
    const first = launch()
    expect(await first.ended).toBe(1)
    expect(first.output()).toMatch(/(users|grants|idp|notifier) ended before it was ready\.\n.*log:\n  KEY is not set/)
    expect(pidFiles()).toEqual([])
  },
)

test('a service that refuses its settings stops the start with its own sentence', { timeout: 60_000 }, async () => {
  writeFileSync(join(folder, 'start.ts'), realStarter)
  const started = launch({ SESSIONS_PER_USER: 'many' })
  expect(await started.ended).toBe(1)
  expect(started.output()).toMatch(/^users does not start: .*SESSIONS_PER_USER.*\n$/m)
})

test('Ctrl-C while it is still starting leaves nothing behind', { timeout: 60_000 }, async () => {
  writeFileSync(join(folder, 'gateway.ts'), other)
  const first = launch()
  await vi.waitFor(() => expect(pidFiles().map((entry) => entry.name)).toContain('gateway'), { timeout: 30_000 })
  const entries = pidFiles()
  first.process.kill('SIGINT')
  expect(await first.ended).toBe(0)
  expect(first.output()).toMatch(/^Stopping \.\.\.\n$/m)
  await vi.waitFor(() => expect(entries.filter(isAlive)).toEqual([]), { timeout: 10_000 })
})

interface Started {
  process: ChildProcess
  output: () => string
  ended: Promise<number | null>
}

test('a service that waits for something does not keep the rest from starting, and the start says so', async () => {
  writeFileSync(join(folder, 'gateway.ts'), gateway.replace('"ok"', '"degraded","waiting":{"users":{"SMTP":"x"}}'))
  try {
    const started = await up()
    expect(started.output()).toContain('a service waits: {"status":"degraded","waiting":{"users":{"SMTP":"x"}}}')
    started.process.kill('SIGINT')
    expect(await started.ended).toBe(0)
  } finally {
    writeFileSync(join(folder, 'gateway.ts'), gateway)
  }
})

async function up(env: Record<string, string> = {}): Promise<Started> {
  const started = launch(env)
  await vi.waitFor(() => expect(started.output()).toContain('Ctrl-C stops everything.'), {
    timeout: 45_000,
    interval: 50,
  })
  return started
}

function launch(env: Record<string, string> = {}): Started {
  const child = spawn(process.execPath, [join(folder, 'start.ts')], {
    env: { PATH: process.env['PATH'], PORT: '0', ...env },
    stdio: 'pipe',
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += String(chunk)))
  const ended = new Promise<number | null>((resolve) => void child.once('close', resolve))
  const started = { process: child, output: () => output, ended }
  running.push(started)
  return started
}

function environment(name: string): string {
  return readFileSync(`/proc/${pidFiles().find((entry) => entry.name === name)!.pid}/environ`, 'utf8')
}

function pidFiles(): PidEntry[] {
  const run = join(folder, 'home/run')
  if (!existsSync(run)) return []
  const files = readdirSync(run).filter((file) => file.endsWith('.pid'))
  return files.map((file) => JSON.parse(readFileSync(join(run, file), 'utf8')) as PidEntry)
}

const names = `console.log(JSON.stringify(Object.keys(process.env).filter((name) => /URL|PORT|ROSTER/.test(name)).sort()));
process.on("SIGTERM", () => { console.log("bye"); process.exit(0); });`
const other = `${names} setInterval(() => {}, 1000);`
const gateway = `import { createServer } from "node:http"; ${names} console.log("listens at " + process.env.HOST); createServer((_, answer) => answer.end('{"status":"ok"}')).listen(process.env.PORT);`
const starter = `import { main } from ${JSON.stringify(join(import.meta.dirname, 'start.ts'))};
await main({
  dataDir: import.meta.dirname + "/home",
  entry: (name) => import.meta.dirname + (name === "gateway" ? "/gateway.ts" : "/other.ts"),
});`
const realStarter = `import { main } from ${JSON.stringify(join(import.meta.dirname, 'start.ts'))};
await main({
  dataDir: import.meta.dirname + "/home",
  entry: (name) => ${JSON.stringify(join(import.meta.dirname, '../../services'))} + "/" + name + "/main.ts",
});`
