import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { counting } from '../tiers.ts'

const root = join(import.meta.dirname, '../..')

test('a file that starts telemetry has a process of its own: in another one it would go on for the files after it', () => {
  const files = globSync('{lib,services,operator,test}/**/*.integration.test.ts', { cwd: root })
  const starting = files.filter((file) =>
    /\b(startTestMetrics|startTracing)\(/.test(readFileSync(join(root, file), 'utf8')),
  )
  expect(starting.length).toBeGreaterThan(5)
  const apart = globSync(counting, { cwd: root })
  expect(starting.filter((file) => !apart.includes(file))).toEqual([])
})
