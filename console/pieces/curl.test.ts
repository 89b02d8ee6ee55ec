import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { curlOf } from './curl.ts'

test('the call that is shown reaches the program as it was sent, whatever stands in it', () => {
  const request = { displayName: `O'Neill $(id) "x" \\ \`y\` !z\n` }
  const options = { organization: "a'b", sequence: '7' }
  const text = curlOf(
    { method: 'roster.users.v1.UserService/UpdateHumanProfile', request, options },
    'https://id.example',
  )
  const script = `curl() { printf '%s\\0' "$@"; }; TOKEN=secret; ${text}`
  const args = execFileSync('bash', ['-c', script]).toString().split('\0')
  expect(args).toContain('https://id.example/roster.users.v1.UserService/UpdateHumanProfile')
  expect(args).toContain('authorization: Bearer secret')
  expect(args).toContain("x-service-orgid: a'b")
  expect(args).toContain('if-match: "7"')
  expect(args).toContain(JSON.stringify(request))
})
