import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The licences of the packages that these files belong to, as one text. Paths are relative to `root`. */
export function licences(root: string, files: string[]): string {
  const packages = new Set(files.flatMap((file) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? []))
  return [...packages]
    .sort()
    .map((folder) => licenceOf(join(root, folder)))
    .join(`\n${'-'.repeat(80)}\n\n`)
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string
    version: string
    license?: string
  }
  const texts = globSync('{LICEN[CS]E,COPYING,NOTICE}*', { cwd: folder }).sort()
  return [
    `${name} ${version}: ${license ?? 'see below'}\n`,
    ...texts.map((file) => readFileSync(join(folder, file), 'utf8')),
  ].join('\n')
}
