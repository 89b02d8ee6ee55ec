import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const pages = globSync(['*.md', 'docs/**/*.md'], { cwd: root })

test.each(pages)('the files and folders that %s links to are there', (page) => {
  const links = readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)\s]+)\)/g)
  const own = [...links].map(([, link]) => link!).filter((link) => !/^(https?:|#)/.test(link))
  expect(own.filter((link) => !existsSync(join(root, dirname(page), link.replace(/#.*/, ''))))).toEqual([])
})

test('the recipes of CONTRIBUTING link operations that are there', () => {
  const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  const recipes = text.split(/^## /m).filter((section) => section.startsWith('Add an operation'))
  expect(recipes).toHaveLength(2)
  for (const recipe of recipes) expect(recipe).toMatch(/\]\(services\/\w+\/(\w+\/)*operations\/[\w/-]+\.ts\)/)
})
