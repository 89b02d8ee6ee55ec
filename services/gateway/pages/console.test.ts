import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readConsole } from './console.ts'

function build() {
  const folder = mkdtempSync(join(tmpdir(), 'roster-console-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'assets'))
  mkdirSync(join(folder, '.vite'))
  for (const file of ['index.html', 'assets/a.12345678.js', 'assets/a.12345678.js.br', '.vite/manifest.json'])
    writeFileSync(join(folder, file), file)
  return folder
}

test('a file has its path, every other path of the console leads to the shell, and no other path to anything', () => {
  const find = readConsole(build())
  expect(find('/ui/console/assets/a.12345678.js')).toMatchObject({ immutable: true })
  const shell = find('/ui/console')
  expect(shell).toMatchObject({ stored: false })
  expect(find('/ui/console/o/acme/people/ada')).toBe(shell)
  for (const path of ['/ui/consoles', '/ui/account', '/', '/ui/console/assets/b.12345678.js'])
    expect(find(path), path).toBeUndefined()
  // Only files of known types, and nothing that lies beside them.
  for (const path of ['a.12345678.js.br', '../.vite/manifest.json', '../index.html'])
    expect(find(`/ui/console/assets/${path}`), path).toBeUndefined()
})

test('where no console was built, there is none', () => {
  expect(readConsole('/nowhere')('/ui/console')).toBeUndefined()
})
