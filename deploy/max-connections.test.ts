import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const numberIn = (file: string, pattern: RegExp) =>
  Number(pattern.exec(readFileSync(new URL(file, import.meta.url), 'utf8'))?.[1])

// Three more connections are for superusers alone.
test('the role of one service cannot take all connections of PostgreSQL, neither of compose nor of `npm start`', () => {
  const ofRole = numberIn('provision.ts', /noreplication connection limit (\d+)/)
  const compose = numberIn('../docker-compose.yml', /max_connections=(\d+)/)
  expect(compose).toBeGreaterThan(2 * ofRole)
  expect(numberIn('local/servers/postgres-server.ts', /max_connections: (\d+)/)).toBe(compose)
})
