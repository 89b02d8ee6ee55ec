import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'

const place = 'const files = []'

/**
 * Tells the page which file each view has. So the file of the first view comes beside those of the frame, and not once they
 * have run: that saves a round trip.
 */
export function preloadView(folder: string): Plugin {
  return {
    name: 'preload-view',
    apply: 'build',
    transformIndexHtml: {
      order: 'post',
      handler(html, { bundle = {} }) {
        if (!html.includes(place)) throw new Error(`index.html has no "${place}".`)
        const chunks = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? [file] : []))
        const files = readViews(join(folder, 'shell/views.ts')).map(({ path, source }) => {
          const chunk = chunks.find(({ facadeModuleId }) => facadeModuleId === join(folder, source))
          if (!chunk) throw new Error(`${source} has no file of its own.`)
          return [matching(path), chunk.fileName.replace('assets/', '')]
        })
        return html.replace(place, () => `const files = ${JSON.stringify(files)}`)
      },
    },
  }
}

/** The views in their order: the paths, and the files of their components. */
export function readViews(file: string): { path: string; source: string }[] {
  const line = /\bview\('([^']*)',\s*'[^']*',\s*\(\) => import\('\.\.\/([^']+)'\)/g
  return [...readFileSync(file, 'utf8').matchAll(line)].map(([, path, source]) => ({ path: path!, source: source! }))
}

/** A regular expression for a pattern of wouter. */
export function matching(path: string): string {
  const pattern = path.startsWith('/instance/') ? path : `/o/:org${path}`
  return pattern.replaceAll(/\/:\w+\?/g, '(/[^/]+)?').replaceAll(/:\w+/g, '[^/]+')
}
