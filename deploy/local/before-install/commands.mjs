// Runs on a fresh clone: plain JavaScript without dependencies, for any Node from 20 on.
import { spawn } from 'node:child_process'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../../..')
export const modules = join(root, 'node_modules')

export async function npm(npmArgs) {
  const cli = process.env.npm_execpath
  const [command, first] = cli && basename(cli).startsWith('npm') ? [process.execPath, [cli]] : ['npm', []]
  const result = await runQuietly(command, [...first, ...npmArgs])
  if (result.isMissing) fail('npm is missing: install Node.js with npm.')
  return result
}

/** Runs a command, whose output is kept until it fails. */
export function runQuietly(command, commandArgs, cwd = root) {
  const child = spawn(command, commandArgs, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  return new Promise((done) => {
    child.on('error', ({ code, message }) => done({ ok: false, output: message, isMissing: code === 'ENOENT' }))
    child.on('close', (status) => done({ ok: status === 0, output }))
  })
}

export function orFail({ ok, output }, name) {
  if (ok) return
  process.stderr.write(output)
  fail(`${name} failed (see above).`)
}

export function fail(sentence) {
  console.error(sentence)
  process.exit(1)
}
