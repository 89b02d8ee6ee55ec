import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readPages } from './pages.ts'

const folder = mkdtempSync(join(tmpdir(), 'roster-pages-'))
afterAll(() => rmSync(folder, { recursive: true }))
mkdirSync(join(folder, 'help'))
for (const file of [
  'index.html',
  'verify.html',
  'verify.0123abcd.js',
  'help/index.html',
  '.secret.html',
  'page.test.ts',
  'notes',
])
  writeFileSync(join(folder, file), file)
const pages = readPages(folder)

test('pages are found by file name, and HTML pages also without their ending', () => {
  const paths = ['/ui/', '/ui/index', '/ui/index.html', '/ui/verify', '/ui/verify.html', '/ui/verify.0123abcd.js']
  expect([...pages.keys()].toSorted()).toEqual(
    [...paths, '/ui/help/', '/ui/help/index', '/ui/help/index.html'].toSorted(),
  )
})

test('only a file whose name holds a hash is kept for ever', () => {
  expect(pages.get('/ui/verify.0123abcd.js')).toMatchObject({ immutable: true, type: 'text/javascript; charset=utf-8' })
  expect(pages.get('/ui/verify')).toMatchObject({ immutable: false, type: 'text/html; charset=utf-8' })
})

test('two contents have two tags', () => {
  expect(pages.get('/ui/verify')!.etag).not.toBe(pages.get('/ui/')!.etag)
})
