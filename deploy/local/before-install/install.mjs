// Runs on a fresh clone: plain JavaScript without dependencies, for any Node from 20 on.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fail, modules, npm, orFail, root, runQuietly } from './commands.mjs'

const stampFile = join(modules, '.roster-stamp.json')
const neededNode = readJson(join(root, 'package.json')).engines.node.replace('>=', '')

/**
 * Installs the packages that package-lock.json names, and patches them, unless they are there. `beforeLong` may refuse
 * what would take a minute. Returns a Node that is new enough for the code.
 */
export async function install(step, beforeLong) {
  const lock = hashOf([join(root, 'package-lock.json')])
  const patches = hashOf(filesIn(join(root, 'patches')))
  const stamp = readJson(stampFile)
  const isPatched = stamp === undefined || stamp.patches === patches
  if (stamp?.lock === lock && isPatched && existsSync(resolve(root, stamp.node))) return resolve(root, stamp.node)
  // A patched package takes no second patch.
  if (!isPatched || !isInstalled()) {
    await beforeLong()
    await step('Installing packages (once; a minute or so)', installPackages, countPackages())
    await applyPatches()
  }
  const found = await findNode(step)
  writeFileSync(stampFile, JSON.stringify({ lock, patches, node: relative(root, found) }))
  return found
}

async function installPackages() {
  const quiet = ['--include=dev', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error']
  // A registry that lacks another platform's optional package leaves a hole in the lock file, which `npm ci` refuses.
  if (!(await npm(['ci', ...quiet])).ok) orFail(await npm(['install', '--no-save', ...quiet]), 'npm install')
}

// Those that every system has.
function countPackages() {
  const wanted = Object.entries(readJson(join(root, 'package-lock.json')).packages)
    .filter(([path, { optional }]) => path !== '' && !optional)
    .map(([path]) => join(root, path, 'package.json'))
  return () => {
    const there = wanted.filter((file) => existsSync(file)).length
    return there === wanted.length ? 'install scripts of packages' : `${there} of ${wanted.length} packages`
  }
}

// The package's own install script does that too, but npm may be configured to run none. What is patched stays as it
// is.
async function applyPatches() {
  const script = join(modules, 'patch-package/index.js')
  if (existsSync(script)) orFail(await runQuietly(process.execPath, [script, '--error-on-fail']), 'patch-package')
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

async function findNode(step) {
  const shipped = () => [join(modules, '.bin/node'), join(modules, 'node/bin/node')].find(isNewEnough)
  // The package fetches its binary in an install script, which npm may be configured not to run.
  if (!shipped() && !isNewEnough(process.execPath))
    await step(`Installing Node ${neededNode} or newer`, () =>
      runQuietly(process.execPath, ['installArchSpecificPackage.js'], join(modules, 'node')),
    )
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

function readJson(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
