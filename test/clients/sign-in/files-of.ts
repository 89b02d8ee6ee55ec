import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../../../deploy/local/home.ts'

/** What is in folders of examples/, by path there, for `build`. */
export function filesOf(...folders: string[]): Record<string, string> {
  const root = join(projectRoot, 'examples')
  const paths = folders.flatMap((folder) => globSync(`${folder}/**`, { cwd: root, exclude: ['**/node_modules'] }))
  const files = paths.filter((path) => statSync(join(root, path)).isFile())
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}
