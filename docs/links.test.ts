import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root })

test.each(pages)('the files, folders and headings that %s links to are there', (page) => {
  const links = readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)
  const own = [...links].map(([, link]) => link!).filter((link) => !/^https?:/.test(link))
  expect(own.filter((link) => !isThere(page, link))).toEqual([])
})

test('the recipes of CONTRIBUTING link operations that are there', () => {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  const recipes = text.split(/^## /m).filter((section) => section.startsWith('Add an operation'))
  expect(recipes).toHaveLength(2)
  for (const recipe of recipes) expect(recipe).toMatch(/\]\(services\/\w+\/(\w+\/)*operations\/[\w/-]+\.ts\)/)
})

function isThere(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#')
  const file = path === '' ? join(root, page) : join(root, dirname(page), path)
  if (!existsSync(file)) return false
  return anchor === undefined || (statSync(file).isFile() && anchorsOf(file).includes(anchor))
}

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(file: string): string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)
  return [...headings].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  )
}
