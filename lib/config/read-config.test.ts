import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { hosts, integer, list, optional, origin, origins, readConfig, text, url } from './read-config.ts'
import { encryptionKey } from '../encryption/keys.ts'

const folder = mkdtempSync(join(tmpdir(), 'roster-config-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(content: string | Buffer): string {
  const path = join(folder, `secret-${Math.random()}`)
  writeFileSync(path, content)
  return path
}

const settings = {
  DATABASE_URL: url(['postgres']),
  PORT: integer(1, 65_535, 8080),
  HOSTS: list(['localhost']),
  NAME: text('roster'),
  PASSWORD: optional(),
  KEY: encryptionKey,
}
const key = Buffer.alloc(32, 7).toString('base64')
const needed = { DATABASE_URL: 'postgres://host/db', KEY: key }

test('a setting that is not set has its default', () => {
  const config = readConfig(settings, needed)
  expect(config).toMatchObject({ PORT: 8080, HOSTS: ['localhost'], NAME: 'roster', PASSWORD: undefined })
})

test('an empty variable is not set', () => {
  expect(readConfig(settings, { ...needed, PORT: '', NAME: '' })).toMatchObject({ PORT: 8080, NAME: 'roster' })
})

test('a setting may come from a file, without the line break at its end', () => {
  expect(readConfig(settings, { ...needed, PASSWORD_FILE: file('pass word\n') }).PASSWORD).toBe('pass word')
  expect(readConfig(settings, { ...needed, PASSWORD: 'a', PASSWORD_FILE: file('b') }).PASSWORD).toBe('a')
})

test('a variable loses line breaks at its end as a file does, and no blank that a password may have', () => {
  const read = (PASSWORD: string) => readConfig(settings, { ...needed, PASSWORD }).PASSWORD
  expect([' pass word \n', 'a\r\n', 'a\n\n', 'a\nb', '\n'].map(read)).toEqual([
    ' pass word ',
    'a',
    'a',
    'a\nb',
    undefined,
  ])
})

test.each([
  ['is empty', ''],
  ['is empty', ' \n'],
  ['is not in UTF-8', Buffer.from('\ufeffpass word', 'utf16le')],
  ['is not in UTF-8', Buffer.from('pass word', 'utf16le')],
  ['is not in UTF-8', Buffer.from('\ufeffpass word', 'utf16le').swap16()],
  ['is not in UTF-8', Buffer.from('pässword', 'latin1')],
])('a file that %s is refused, also where the setting may be missing (%#)', (problem, content) => {
  const read = () => readConfig(settings, { ...needed, PASSWORD_FILE: file(content) })
  expect(read).toThrow(`PASSWORD ${problem} in the file that PASSWORD_FILE names`)
})

test('a mark of UTF-8 at the begin of a file is no part of the setting', () => {
  expect(readConfig(settings, { ...needed, PASSWORD_FILE: file('\ufeffpass word') }).PASSWORD).toBe('pass word')
})

test('the same rules apply to a file', () => {
  expect(readConfig(settings, { ...needed, PORT_FILE: file('99') }).PORT).toBe(99)
  expect(() => readConfig(settings, { ...needed, PORT_FILE: file('x') })).toThrow('PORT is not a whole number')
})

test('commas separate a list, and blanks do not count', () => {
  expect(readConfig(settings, { ...needed, HOSTS: ' a.example, ,b.example:8443 ' }).HOSTS).toEqual([
    'a.example',
    'b.example:8443',
  ])
})

const noOrigins = [
  'https://id.example.com/auth', 'https://id.example.com/?', 'https://id.example.com/#', 'https://a@id.example.com',
  'https://id.example.com?x=1', 'ftp://id.example.com', 'id.example.com', 'https://',
] // prettier-ignore

test('an origin has nothing behind its host and port, and is spelled as browsers do', () => {
  const { read } = origin()
  for (const text of noOrigins) expect(() => read(text)).toThrow('is not an origin')
  const spelled = ['https://ID.Bücher.example:443/', 'http://[0:0::1]:8080', 'http://localhost:8080'].map((text) =>
    read(text),
  )
  expect(spelled).toEqual(['https://id.xn--bcher-kva.example', 'http://[::1]:8080', 'http://localhost:8080'])
})

test('origins of browsers may have other schemes, and a text that no browser sends is refused', () => {
  const { read } = origins()
  const others = ['*', 'null', 'capacitor://localhost', 'chrome-extension://abc']
  expect(read(`https://APP.example.com/,${others.join()}`)).toEqual(['https://app.example.com', ...others])
  for (const text of [...noOrigins.filter((text) => !text.startsWith('ftp')), 'app://x/y'])
    expect(() => read(text)).toThrow('is not an origin')
})

test('hosts are spelled as in a URL', () => {
  const { read } = hosts()
  expect(read('App.Example.com, bücher.example,localhost:3000 ,[::1]:8443,a.example:443')).toEqual([
    'app.example.com',
    'xn--bcher-kva.example',
    'localhost:3000',
    '[::1]:8443',
    'a.example:443',
  ])
  for (const text of [
    'https://a.example',
    'a.example/x',
    'user@a.example',
    'a b',
    'a.example:99999',
    '*.a.example?',
    '\\a',
  ])
    expect(() => read(text), text).toThrow('is not a list of hosts')
})

describe('problems', () => {
  const secrets = {
    DATABASE_URL: 'mysql://user:hunter2@host/db',
    PORT: '70000hunter2',
    KEY: 'aHVudGVyMg==',
    PASSWORD_FILE: '/nowhere/hunter2',
  }
  const message = (() => {
    try {
      return JSON.stringify(readConfig(settings, secrets))
    } catch (error) {
      return (error as Error).message
    }
  })()

  test('are all reported at once', () => {
    for (const name of ['DATABASE_URL', 'PORT', 'KEY', 'PASSWORD']) expect(message).toContain(`${name} `)
  })

  test('show no value', () => {
    expect(message).not.toContain('hunter2')
    expect(message).not.toContain(secrets.KEY)
  })

  test('include missing settings', () => {
    expect(() => readConfig(settings, {})).toThrow('DATABASE_URL is not set (nor DATABASE_URL_FILE); KEY is not set')
  })
})

test.each(['0', '65536', '1.5', 'x', ' ', 'NaN', 'Infinity', '1n'])('%s is no port', (PORT) => {
  expect(() => readConfig(settings, { ...needed, PORT })).toThrow('PORT is not a whole number from 1 to 65535')
})

test.each(['host:5432', 'http://host', '//host', 'postgres'])('%s is no URL of a database', (DATABASE_URL) => {
  expect(() => readConfig(settings, { ...needed, DATABASE_URL })).toThrow('is not a URL of the kind postgres://')
})
