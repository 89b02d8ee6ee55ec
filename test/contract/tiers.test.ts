import { globSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { counting, longest, secondTier, waiting } from '../tiers.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const exclude = (name: string) => name.endsWith('node_modules') || name.endsWith('.roster')

/** The patterns without braces that a pattern stands for, one level of braces at a time. */
function spread(pattern: string): string[] {
  const [, before, inner, after] = /^(.*?)\{([^{}]*)\}(.*)$/.exec(pattern) ?? []
  return inner === undefined ? [pattern] : inner.split(',').flatMap((part) => spread(before! + part + after!))
}

test('each pattern of the tiers names a file', () => {
  const patterns = [...secondTier, ...counting, ...waiting, ...longest].flatMap(spread)
  expect(patterns.filter((pattern) => globSync(pattern, { cwd: root, exclude }).length === 0)).toEqual([])
})
