// The first file that runs on a fresh clone: plain JavaScript without dependencies, for any Node from 20 on. It
// installs the Node that the code itself needs (`engines` in package.json), and runs the wanted script with that.
// node deploy/local/bootstrap.mjs <script.ts | command of node_modules/.bin> [args]
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, delimiter, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..')
const modules = join(root, 'node_modules')
const stampFile = join(modules, '.roster-stamp.json')
const neededNode = readJson(join(root, 'package.json')).engines.node.replace('>=', '')

const [wanted, ...args] = process.argv.slice(2)
if (!wanted) fail('Usage: node deploy/local/bootstrap.mjs <script.ts | command> [args]')
const node = await alone(() => {
  const found = install()
  generate()
  return found
})
run(node, /\.m?[jt]s$/.test(wanted) ? resolve(wanted) : join(modules, '.bin', wanted), args)

// Two starts at once on a fresh clone must not install into the same folder.
async function alone(work) {
  const lock = join(root, '.roster', 'bootstrap.lock')
  mkdirSync(dirname(lock), { recursive: true, mode: 0o711 })
  for (;;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' })
      break
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
      if (!isRunning(lock)) rmSync(lock, { force: true })
      else await new Promise((wake) => setTimeout(wake, 200))
    }
  }
  process.on('exit', () => rmSync(lock, { force: true }))
  try {
    return work()
  } finally {
    rmSync(lock, { force: true })
    process.removeAllListeners('exit')
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

function install() {
  const lock = hashOf([join(root, 'package-lock.json')])
  const patches = hashOf(filesIn(join(root, 'patches')))
  const stamp = readJson(stampFile)
  const isPatched = stamp === undefined || stamp.patches === patches
  if (stamp?.lock === lock && isPatched && existsSync(resolve(root, stamp.node))) return resolve(root, stamp.node)
  // A patched package takes no second patch.
  if (!isPatched || !isInstalled()) {
    console.log('Installing dependencies (once; a minute or so) ...')
    const quiet = ['--include=dev', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error']
    // A registry that lacks another platform's optional package leaves a hole in the lock file, which `npm ci` refuses.
    if (!npm(['ci', ...quiet]).ok) orFail(npm(['install', '--no-save', ...quiet]), 'npm install')
    applyPatches()
  }
  const found = findNode()
  writeFileSync(stampFile, JSON.stringify({ lock, patches, node: relative(root, found) }))
  return found
}

// The package's own install script does that too, but npm may be configured to run none. What is patched stays as it
// is.
function applyPatches() {
  const script = join(modules, 'patch-package/index.js')
  if (!existsSync(script)) return
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, '--error-on-fail'], {
    cwd: root,
    encoding: 'utf8',
  })
  orFail({ ok: status === 0, output: `${stdout}${stderr}` }, 'patch-package')
}

function hashOf(files) {
  const hash = createHash('sha256')
  for (const file of files) hash.update(readFileSync(file))
  return hash.digest('hex')
}

function filesIn(folder) {
  return existsSync(folder)
    ? readdirSync(folder)
        .sort()
        .map((name) => join(folder, name))
    : []
}

// Compares npm's own record of the packages in node_modules with the lock file.
function isInstalled() {
  const installed = readJson(join(modules, '.package-lock.json'))?.packages
  if (!installed) return false
  const locked = Object.entries(readJson(join(root, 'package-lock.json')).packages).filter(([path]) => path !== '')
  return locked.every(([path, { version, optional }]) =>
    installed[path] ? installed[path].version === version : optional,
  )
}

function findNode() {
  const shipped = () => [join(modules, '.bin/node'), join(modules, 'node/bin/node')].find(isNewEnough)
  // The package fetches its binary in an install script, which npm may be configured not to run.
  if (!shipped() && !isNewEnough(process.execPath)) {
    spawnSync(process.execPath, ['installArchSpecificPackage.js'], { cwd: join(modules, 'node'), stdio: 'ignore' })
  }
  const found = shipped() ?? (isNewEnough(process.execPath) ? process.execPath : undefined)
  return (
    found ??
    fail(
      `Node ${neededNode} or later is needed and npm could not install it here: install it from https://nodejs.org and try again.`,
    )
  )
}

function isNewEnough(file) {
  if (!existsSync(file)) return false
  const said = spawnSync(file, ['--version'], { encoding: 'utf8' }).stdout ?? ''
  const [major, minor] = said.replace('v', '').split('.').map(Number)
  const [neededMajor, neededMinor] = neededNode.split('.').map(Number)
  return major > neededMajor || (major === neededMajor && minor >= neededMinor)
}

function generate() {
  const made = join(root, 'gen/grpc-reflection.binpb')
  if (!existsSync(join(root, 'proto'))) return
  const sources = ['proto', 'compat/zitadel/proto', 'buf.yaml', 'buf.gen.yaml'].map((name) => join(root, name))
  if (existsSync(made) && Math.max(...sources.map(newest)) <= statSync(made).mtimeMs) return
  console.log('Generating code from proto/ ...')
  orFail(npm(['run', '--silent', 'generate']), 'npm run generate')
}

function newest(path) {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (!stat) return 0
  const below = stat.isDirectory() ? readdirSync(path).map((name) => newest(join(path, name))) : []
  return Math.max(stat.mtimeMs, ...below)
}

function npm(npmArgs) {
  const cli = process.env.npm_execpath
  const [command, first] = cli && basename(cli).startsWith('npm') ? [process.execPath, [cli]] : ['npm', []]
  const { status, stdout, stderr, error } = spawnSync(command, [...first, ...npmArgs], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  if (error?.code === 'ENOENT') fail('npm is missing: install Node.js with npm.')
  return { ok: status === 0, output: `${stdout ?? ''}${stderr ?? ''}` }
}

function orFail({ ok, output }, name) {
  if (ok) return
  process.stderr.write(output)
  fail(`${name} failed (see above).`)
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

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function fail(sentence) {
  console.error(sentence)
  process.exit(1)
}
