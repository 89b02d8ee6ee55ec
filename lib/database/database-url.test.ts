import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { driverOptions, postgresUrl } from './database-url.ts'
import { sessionSettings } from './session-settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'roster-ca-'))
afterAll(() => rmSync(folder, { recursive: true }))
const file = join(folder, 'ca.pem')
writeFileSync(file, 'the CA')

test('hosts and their ports reach the driver, which reads one host alone', () => {
  expect(driverOptions('postgres://u:p@a:5431,b,[::1]:5433/db')).toMatchObject({
    url: 'postgres://u:p@a:5431/db',
    host: ['a', 'b', '::1'],
    port: [5431, 5432, 5433],
  })
  const { url, host, port } = driverOptions('postgres://u:p@a/db?x=1')
  expect([url, host, port]).toEqual(['postgres://u:p@a/db?x=1', undefined, undefined])
})

test('a URL has the last word on how statements are planned and how long they take, and on nothing else', () => {
  const text = 'postgres://a/db?statement_timeout=500&jit=on&bytea_output=escape'
  const { url, session } = driverOptions(text, sessionSettings)
  expect(url).toBe('postgres://a/db?bytea_output=escape')
  for (const part of [`'statement_timeout', '500'`, `'jit', 'on'`, `'enable_seqscan', 'off'`, `'bytea_output', 'hex'`])
    expect(session.begin('mark')).toContain(part)
})

test('a file of sslrootcert is what the server is verified by, with its name unless sslmode is verify-ca', () => {
  const at = (mode: string) => driverOptions(`postgres://a/db?sslmode=${mode}&sslrootcert=${file}`)
  for (const mode of ['verify-full', 'require'])
    expect(at(mode)).toMatchObject({ url: `postgres://a/db?sslmode=${mode}`, ssl: { ca: 'the CA' } })
  expect(at('verify-ca').ssl).toEqual({ ca: 'the CA', checkServerIdentity: expect.any(Function) })
  expect(at('disable').ssl).toBeUndefined()
  expect(driverOptions('postgres://a/db?sslrootcert=system').url).toContain('sslrootcert=system')
})

test('a file that cannot be read, and a text that is no URL, are reported at the start', () => {
  expect(() => postgresUrl.read('postgres://a/db?sslrootcert=/nowhere')).toThrow('sslrootcert that cannot be read')
  for (const text of ['mysql://a/db', 'postgres://a,b:99999/db', 'a:5432'])
    expect(() => postgresUrl.read(text)).toThrow('is not a URL of the kind postgres://')
})
