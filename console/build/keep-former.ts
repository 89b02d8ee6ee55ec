import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'

const days = 30

/**
 * Keeps the files of former builds for a month: a page that was opened before an upgrade asks for their chunks when
 * somebody goes to a view that it has not shown yet.
 */
export function keepFormer(): Plugin {
  return {
    name: 'keep-former',
    apply: 'build',
    writeBundle({ dir }, files) {
      const folder = join(dir!, 'assets')
      if (!existsSync(folder)) return
      const oldest = Date.now() - days * 24 * 60 * 60 * 1000
      for (const name of readdirSync(folder)) {
        const isOfThisBuild = files[`assets/${name.replace(/\.(br|gz)$/, '')}`] !== undefined
        if (!isOfThisBuild && statSync(join(folder, name)).mtimeMs < oldest) rmSync(join(folder, name))
      }
    },
  }
}
