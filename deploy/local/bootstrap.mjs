// The first file that runs on a fresh clone: plain JavaScript without dependencies, for any Node from 20 on. It
// installs the Node that the code itself needs (`engines` in package.json), and runs the wanted script with that.
// node deploy/local/bootstrap.mjs <script.ts | command of node_modules/.bin> [args]
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join, resolve } from 'node:path'
import { fail, modules, npm, orFail, root } from './before-install/commands.mjs'
import { gatewayPort } from './before-install/gateway-port.mjs'
import { install } from './before-install/install.mjs'
import { openProgress } from './before-install/progress.mjs'

const { step } = openProgress(console.error)
const [wanted, ...args] = process.argv.slice(2)
if (!wanted) fail('Usage: node deploy/local/bootstrap.mjs <script.ts | command> [args]')
const node = await alone(async () => {
  const found = await install(step, refuseTakenPort)
  await generate()
  return found
})
run(node, /\.m?[jt]s$/.test(wanted) ? resolve(wanted) : join(modules, '.bin', wanted), args)

// Said now, and not after the minute of an installation.
async function refuseTakenPort() {
  if (resolve(wanted) === join(root, 'deploy/local/start.ts')) await gatewayPort().catch(({ message }) => fail(message))
}

// Two starts at once on a fresh clone must not install into the same folder.
async function alone(work) {
  const lock = join(root, '.roster', 'bootstrap.lock')
  mkdirSync(dirname(lock), { recursive: true, mode: 0o711 })
  if (!claim(lock))
    await step('Waiting for another command, which installs here', async () => {
      while (!claim(lock)) await new Promise((wake) => setTimeout(wake, 200))
    })
  process.on('exit', () => rmSync(lock, { force: true }))
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
    process.removeAllListeners('exit')
  }
}

function claim(lock) {
  for (;;)
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
      return true
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      if (isRunning(lock)) return false
      rmSync(lock, { force: true })
    }
}

function isRunning(lock) {
  try {
    process.kill(Number(readFileSync(lock, 'utf8')) || -0x7fffffff, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

async function generate() {
  const made = join(root, 'gen/grpc-reflection.binpb')
  if (!existsSync(join(root, 'proto'))) return
  const sources = ['proto', 'compat/zitadel/proto', 'buf.yaml', 'buf.gen.yaml'].map((name) => join(root, name))
  if (existsSync(made) && Math.max(...sources.map(newest)) <= statSync(made).mtimeMs) return
  await step('Generating code from proto/', async () =>
    orFail(await npm(['run', '--silent', 'generate']), 'npm run generate'),
  )
}

function newest(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return 0
  const below = stat.isDirectory() ? readdirSync(path).map((name) => newest(join(path, name))) : []
  return Math.max(stat.mtimeMs, ...below)
}

function run(command, script, scriptArgs) {
  const env = { ...process.env, ROSTER_BOOTSTRAP_PID: String(process.pid) }
  env.PATH = [join(modules, '.bin'), process.env.PATH].join(delimiter)
  // Node keeps compiled code there: commands start in two thirds of the time.
  env.NODE_COMPILE_CACHE ??= join(modules, '.cache/compiled')
  const child = spawn(command, [script, ...scriptArgs], { stdio: 'inherit', env })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2']) process.on(signal, () => child.kill(signal))
  if (process.env.npm_lifecycle_event) atEndOfParent(() => child.kill('SIGTERM'))
  child.on('error', (error) => fail(`${command} does not run: ${error.message}`))
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

// npm runs this below a shell, and hands a SIGTERM to that shell alone.
function atEndOfParent(act) {
  const parent = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === parent) return
    clearInterval(timer)
    act()
  }, 500)
  timer.unref()
}
