import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { greeting } from './greeting.ts'

const at = {
  url: 'http://localhost:8080',
  publicUrl: 'http://localhost:8080',
  adminPassword: 'pass-word',
  moved: [],
  adminTokenFile: '/roster/.roster/admin-token',
  mailboxUrl: 'http://localhost:8025',
  logs: '/roster/.roster/log',
  cwd: '/roster',
}

test('README shows the lines that npm start prints', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')
  expect(readme).toContain(`\`\`\`sh\n${linesOf(greeting(at))}\`\`\``)
})

describe('the printed lines are bash', () => {
  test.each([
    ['with a mailbox', at],
    ['without one', { ...at, mailboxUrl: undefined }],
    ['with a token in a folder of an odd name', { ...at, adminTokenFile: "/home/o'hara/my token" }],
  ])('%s', (_, options) => {
    execFileSync('bash', ['-n', '-c', linesOf(greeting(options))])
  })
})

test('it names the administrator with the password, and the pages', () => {
  const text = greeting(at)
  expect(text).toMatch(/administrator +admin, with the password pass-word +\(\.roster\/admin-password, /)
  for (const page of ['8080/ui/console', '8080/ui/account', '8080/docs', '8025'])
    expect(text).toContain(`http://localhost:${page}`)
})

test('it suggests a second factor for administrators, and where that is described', () => {
  const [, anchor] = /second factor: docs\/operations.md#(\S+)/.exec(greeting(at)) ?? []
  const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const headings = operations.match(/^## .*/gm)!.map((heading) => heading.slice(3).toLowerCase().replaceAll(' ', '-'))
  expect(headings).toContain(anchor)
  expect(operations).toContain('{"settings":{"forceMfaOfAdministrators":true}}')
})

// The output of such a start is a log that others read.
test('where Roster is reached from elsewhere, the greeting shows no password, but where it is', () => {
  const text = greeting({ ...at, publicUrl: 'https://id.example.com' })
  expect(text).not.toContain('pass-word')
  expect(text).toContain('with the password in .roster/admin-password')
})

/** The lines that a reader pastes. */
function linesOf(text: string): string {
  return text.slice(text.indexOf('AUTH='), text.indexOf('\nCtrl-C'))
}
