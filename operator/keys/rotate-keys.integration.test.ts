import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { decodeKey, keyId } from '#lib/encryption/keys'
import { runOperator, spawnOperator } from '#test/support/operator'
import { writeKeys } from '../../deploy/compose-keys.ts'
import { deriveKeys } from '../../deploy/derive-keys.ts'
import { openHome } from '../../deploy/local/home.ts'

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
  expect(await rotate()).toMatchObject({ status: 2, err: expect.stringContaining('can no longer be decrypted') })
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

function startRoot() {
  for (const name of ['users', 'grants', 'idp', 'notifier', 'gateway', 'operator'])
    mkdirSync(join(folder, 'of', name), { recursive: true })
  writeKeys(join(folder, 'root'), join(folder, 'of'), '')
  const args = ['--root', join(folder, 'root'), '--folder', join(folder, 'of'), '--yes']
  return (settings: Record<string, string> = {}) => spawnOperator(['keys', 'rotate', ...args], settings)
}

test('of several runs at once one takes the step, and the others say that they did nothing', async () => {
  const rotate = startRoot()
  const former = read('root')
  const runs = await Promise.all(Array.from({ length: 4 }, () => rotate()))
  expect(runs.filter(({ status }) => status === 0)).toHaveLength(1)
  for (const { status, err } of runs)
    if (status !== 0) expect(err).toMatch(/Another run (changes the root now|took a step meanwhile)|is due at/)
  const [first, next] = read('root').split(',')
  expect(first).toBe(former)
  expect(JSON.parse(read('root.rotation'))).toMatchObject({ next: keyId(decodeKey(next!)) })
  expect(read('of/users/ROSTER_ENCRYPTION_KEY')).toBe(deriveKeys(read('root')).users['ROSTER_ENCRYPTION_KEY'])
  expect(existsSync(join(folder, 'root.lock'))).toBe(false)
})

test('a run beside another one, or after one that was killed, changes nothing and names the lock', async () => {
  const rotate = startRoot()
  const former = read('root')
  writeFileSync(join(folder, 'root.lock'), '')
  expect(await rotate()).toMatchObject({ status: 2, err: expect.stringContaining(join(folder, 'root.lock')) })
  expect(read('root')).toBe(former)
  rmSync(join(folder, 'root.lock'))
  expect((await rotate()).status).toBe(0)
})

test('each file is on the disk before it takes its place, and its place before the next file changes', async () => {
  const rotate = startRoot()
  const spy = join(folder, 'spy.mjs')
  writeFileSync(spy, spyOnFiles)
  const { status, err } = await rotate({ NODE_OPTIONS: `--import=${pathToFileURL(spy).href}` })
  const steps = err.split('\n').filter((line) => /^(renamed|flushed) /.test(line))
  expect(status).toBe(0)
  const replaced = (name: string) => [`flushed ${folder}/${name}`, `renamed ${folder}/${name}`, `flushed ${folder}`]
  expect(steps.slice(0, 3)).toEqual(replaced('root.rotation'))
  expect(steps.slice(-3)).toEqual(replaced('root'))
  const kinds = steps.map((step) => step.split(' ')[0])
  expect(kinds).toEqual(Array.from({ length: steps.length / 3 }, () => ['flushed', 'renamed', 'flushed']).flat())
})

// Records what the process does with files. Drafts are named after the file that they become.
const spyOnFiles = `
  import fs from 'node:fs'
  import { syncBuiltinESMExports } from 'node:module'
  const say = (...words) => fs.writeSync(2, words.join(' ').replace(/\\.[0-9a-f]+\\.new$/, '') + '\\n')
  const { renameSync, openSync, fsyncSync } = fs
  const names = new Map()
  fs.renameSync = (from, to) => (renameSync(from, to), say('renamed', to))
  fs.openSync = (file, ...rest) => {
    const opened = openSync(file, ...rest)
    names.set(opened, file)
    return opened
  }
  fs.fsyncSync = (opened) => (fsyncSync(opened), say('flushed', names.get(opened)))
  syncBuiltinESMExports()
`
