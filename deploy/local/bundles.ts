import { execFile } from 'node:child_process'
import { globSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { projectRoot } from './home.ts'
import type { ServicesOptions } from './service-environment.ts'

/**
 * Returns the bundles of the services, which start faster and take less memory than their sources. Builds them again when
 * a source has changed. Where that fails, the services run from their sources.
 */
export async function bundledEntry(say: (line: string) => void): Promise<NonNullable<ServicesOptions['entry']>> {
  const folder = join(projectRoot, 'dist')
  try {
    // As a process of its own: the bundler takes much memory.
    if (!isFresh(folder)) await promisify(execFile)(process.execPath, [join(projectRoot, 'deploy/bundle/bundle.ts')])
    return (name) => join(folder, `${name}.mjs`)
  } catch (error) {
    say(`The services run from their sources, since they could not be bundled: ${(error as Error).message}`)
    return (name) => join(projectRoot, 'services', name, 'main.ts')
  }
}

function isFresh(folder: string): boolean {
  const made = changedAt(join(folder, 'package.json'))
  if (made === 0) return false
  const sources = globSync(
    [
      '{lib,services,operator,compat,gen,deploy/bundle}/**/*',
      'console/!(dist)/**/*',
      'console/*.*',
      'package-lock.json',
      'package.json',
      'patches/*',
    ],
    {
      cwd: projectRoot,
    },
  )
  return Math.max(...sources.map((file) => changedAt(join(projectRoot, file)))) < made
}

function changedAt(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
