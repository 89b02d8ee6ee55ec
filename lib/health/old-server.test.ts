import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { oldest, refuseOld } from './old-server.ts'

test.each([
  ['PostgreSQL', '15.0'],
  ['PostgreSQL', '15.18 (Debian 15.18-0+deb12u1)'],
  ['PostgreSQL', '19beta1'],
  ['NATS', '2.9.10'],
  ['NATS', '2.10.0'],
  ['NATS', '2.12.0-RC.1'],
  ['NATS', '3'],
  ['Redis', '6.2.0'],
  ['Redis', '7.0.15'],
] as const)('%s %s is new enough', (server, version) => {
  expect(() => refuseOld(server, version)).not.toThrow()
})

test.each([
  ['PostgreSQL', '14.19 (Debian 14.19-1)', '14.19'],
  ['PostgreSQL', '9.6.24', '9.6.24'],
  ['NATS', '2.9.9', '2.9.9'],
  ['NATS', '1.4.1', '1.4.1'],
  ['NATS', '2.9', '2.9'],
  ['Redis', '6.0.16', '6.0.16'],
] as const)('%s %s is refused, and the sentence names what is there and what is needed', (server, version, said) => {
  expect(() => refuseOld(server, version)).toThrow(
    `${server} ${said} is too old: Roster needs ${server} ${oldest[server]} or newer (docs/operations.md).`,
  )
})

test.each(Object.entries(oldest))('docs/operations.md says that %s must be %s or newer', (server, version) => {
  const page = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  expect(page).toMatch(new RegExp(`^\\| ${server} \\| ${version.replaceAll('.', '\\.')} \\|`, 'm'))
})
