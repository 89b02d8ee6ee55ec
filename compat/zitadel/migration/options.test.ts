import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { readOptions } from './options.ts'

const folder = mkdtempSync(join(tmpdir(), 'roster-options-'))
const file = join(folder, 'token')
writeFileSync(file, ' secret-token\n')
afterAll(() => rmSync(folder, { recursive: true }))

const urls = ['--from', 'https://zitadel.example.com/', '--to', 'http://localhost:8080']
const files = ['--from-token-file', file, '--to-token-file', file]

describe('the command line of the migration', () => {
  test('is a dry run of everything by default', () => {
    expect(readOptions([...urls, ...files], {})).toEqual({
      from: 'https://zitadel.example.com',
      fromToken: 'secret-token',
      to: 'http://localhost:8080',
      toToken: 'secret-token',
      organizations: [],
      state: '.roster/migration-from-zitadel.json',
      instanceMembers: false,
      most: 1_000_000,
      run: false,
    })
  })

  test('takes tokens from the environment, too', () => {
    const options = readOptions(urls, { ZITADEL_TOKEN: 'a', ROSTER_TOKEN: 'b' })
    expect([options.fromToken, options.toToken]).toEqual(['a', 'b'])
  })

  test.each([
    [[...files, '--from', 'https://z.example.com'], '--to is missing.'],
    [urls, '--from-token-file is missing.'],
    [[...urls, ...files, '--from', 'http://zitadel.example.com'], '--from must begin with https'],
    [[...urls, ...files, '--to', 'http://localhost.example.com'], '--to must begin with https'],
    [[...urls, ...files, '--to', 'https://u:p@roster.example.com'], '--to must be an https address'],
    [[...urls, ...files, '--most', '0'], '--most must be'],
    [[...urls, ...files, '--from-token', 'x'], 'Unknown option'],
    [[...urls, ...files, '--to-token'], 'Unknown option'],
  ])('refuses %j: %s', (args, sentence) => expect(() => readOptions(args, {})).toThrow(sentence))

  test('does not repeat an argument that may be a token', () => {
    const error = () => readOptions([...urls, ...files, 'secret-token'], {})
    expect(error).toThrow('An argument belongs to no option.')
  })
})
