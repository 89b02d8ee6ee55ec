import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runOperator } from '#test/support/operator'
import { writeKeys } from '../../compose-keys.ts'
import { deriveKeys } from '../../derive-keys.ts'
import { openHome } from '../../local/home.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'roster-keys-test-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const read = (...path: string[]) => readFileSync(join(folder, ...path), 'utf8').trim()

/** Lets the last step be so old that the next one is due. */
function letPass(stateFile: string) {
  const state = JSON.parse(read(stateFile)) as object
  writeFileSync(join(folder, stateFile), JSON.stringify({ ...state, at: '2026-01-01T00:00:00Z' }))
}

test('in containers: three calls lead to a new root, and the keys of the services follow it', async () => {
  for (const name of ['users', 'grants', 'idp', 'notifier', 'gateway', 'operator'])
    mkdirSync(join(folder, 'of', name), { recursive: true })
  const args = ['--root', join(folder, 'root'), '--folder', join(folder, 'of')]
  writeKeys(join(folder, 'root'), join(folder, 'of'), '')
  const former = read('root')
  const rotate = (...more: string[]) => runOperator(['keys', 'rotate', ...args, ...more], {})

  expect(await rotate()).toMatchObject({ status: 0, out: expect.stringContaining('Restart every service') })
  const [first, next] = read('root').split(',')
  expect(first).toBe(former)
  expect(read('of/users/ROSTER_ENCRYPTION_KEY')).toBe(deriveKeys(`${former},${next}`).users['ROSTER_ENCRYPTION_KEY'])
  expect(await rotate('--yes')).toMatchObject({ status: 2, err: expect.stringContaining('is due at') })
  letPass('root.rotation')
  expect(await rotate()).toMatchObject({ status: 2, err: expect.stringContaining('Nothing was done') })
  expect(read('root')).toBe(`${former},${next}`)
  expect(await rotate('--yes')).toMatchObject({ status: 0, out: expect.stringContaining('A day later') })
  expect(read('root')).toBe(`${next},${former}`)
  expect(await rotate('--yes')).toMatchObject({ status: 2, err: expect.stringContaining('is due at') })
  letPass('root.rotation')
  expect(await rotate()).toMatchObject({ status: 2, err: expect.stringContaining('Nobody opens any more') })
  expect((await rotate('--yes', '--json')).json()).toEqual([{ step: 'done', next: expect.any(Array) }])
  expect(read('root')).toBe(next)
  expect(read('of/gateway/ROSTER_CALLER_KEYS')).toBe(deriveKeys(next!).gateway['ROSTER_CALLER_KEYS'])
})

test('in containers: a step that ended before every service had its key is taken again', async () => {
  for (const name of ['users', 'grants', 'idp', 'notifier', 'gateway', 'operator'])
    mkdirSync(join(folder, 'of', name), { recursive: true })
  const args = ['--root', join(folder, 'root'), '--folder', join(folder, 'of'), '--yes']
  writeKeys(join(folder, 'root'), join(folder, 'of'), '')
  const rotate = () => runOperator(['keys', 'rotate', ...args], {})
  expect((await rotate()).status).toBe(0)
  const [former, next] = read('root').split(',')
  letPass('root.rotation')
  renameSync(join(folder, 'of', 'idp'), join(folder, 'away'))
  expect((await rotate()).status).toBe(2)
  renameSync(join(folder, 'away'), join(folder, 'of', 'idp'))
  expect(await rotate()).toMatchObject({ status: 0, out: expect.stringContaining('A day later') })
  expect(read('root')).toBe(`${next},${former}`)
  expect(read('of/idp/ROSTER_ENCRYPTION_KEY')).toBe(deriveKeys(`${next},${former}`).idp['ROSTER_ENCRYPTION_KEY'])
})

test('beside npm start: the root of its folder changes in two steps, and nothing else of its secrets', async () => {
  const home = openHome(folder)
  const [former, other] = [home.key('encryption-key'), home.secret('postgres')]
  const rotate = (...more: string[]) => runOperator(['keys', 'rotate', '--home', folder, ...more], {})
  expect(await rotate()).toMatchObject({ status: 0, out: expect.stringContaining('Stop npm start') })
  const [next, last] = home.key('encryption-key').split(',')
  expect(last).toBe(former)
  letPass('encryption-key.rotation')
  expect((await rotate('--yes')).status).toBe(0)
  expect(home.key('encryption-key')).toBe(next)
  expect(home.secret('postgres')).toBe(other)
})

test('no key is written to the terminal, and a root that the environment names is left alone', async () => {
  const home = openHome(folder)
  home.key('encryption-key')
  const given = { ROSTER_ENCRYPTION_KEY: home.key('encryption-key') }
  expect((await runOperator(['keys', 'rotate', '--home', folder], given)).status).toBe(2)
  const { out, err } = await runOperator(['keys', 'rotate', '--home', folder], {})
  for (const key of home.key('encryption-key').split(',')) expect(out + err).not.toContain(key)
})
