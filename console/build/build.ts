import { execFile } from 'node:child_process'
import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const root = join(import.meta.dirname, '../..')
const made = 'console/dist/index.html'
const sources = [
  'console/!(dist)/**/*',
  'console/*.*',
  'examples/**/*',
  'proto/**/*.proto',
  'lib/names/*',
  'package-lock.json',
]

/** Builds the console into `console/dist`, unless nothing has changed since it was built. */
export async function buildConsole(): Promise<void> {
  const changed = Math.max(...globSync(sources, { cwd: root }).map(changedAt))
  if (changed <= changedAt(made)) return
  await run(join(import.meta.dirname, 'generate.ts'))
  const vite = join(root, 'node_modules/vite/bin/vite.js')
  await run(vite, 'build', '--config', join(root, 'console/vite.config.ts'), '--logLevel', 'warn')
}

// Vitest says that this is a test, and vite would make what developers debug.
async function run(...args: string[]): Promise<void> {
  await promisify(execFile)(process.execPath, args, { cwd: root, env: { ...process.env, NODE_ENV: 'production' } })
}

/** The files of packages that the built console holds. */
export function consolePackages(): string[] {
  return JSON.parse(readFileSync(join(root, 'console/dist/packages.json'), 'utf8')) as string[]
}

function changedAt(file: string): number {
  return statSync(join(root, file), { throwIfNoEntry: false })?.mtimeMs ?? 0
}

if (import.meta.main) await buildConsole()
