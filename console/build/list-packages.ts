import { writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Plugin } from 'vite'

/** Writes the files of packages that the console holds into `packages.json`: LICENSES.txt names them. */
export function listPackages(root: string): Plugin {
  return {
    name: 'list-packages',
    apply: 'build',
    writeBundle({ dir }, files) {
      const modules = Object.values(files).flatMap((file) => ('modules' in file ? Object.keys(file.modules) : []))
      const ofPackages = modules.map((file) => relative(root, file)).filter((file) => file.startsWith('node_modules/'))
      writeFileSync(join(dir!, 'packages.json'), JSON.stringify(ofPackages.sort()))
    },
  }
}
