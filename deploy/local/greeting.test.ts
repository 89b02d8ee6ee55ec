import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { greeting } from './greeting.ts'

const at = {
  url: 'http://localhost:8080',
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

/** The lines that a reader pastes. */
function linesOf(text: string): string {
  return text.slice(text.indexOf('AUTH='), text.indexOf('\nCtrl-C'))
}
