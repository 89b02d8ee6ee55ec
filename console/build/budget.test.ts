import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { buildConsole } from './build.ts'

const folder = join(import.meta.dirname, '../dist')
const kilobyte = 1000

interface Chunk {
  file: string
  src?: string
  imports?: string[]
  css?: string[]
}
let chunks: Record<string, Chunk>

beforeAll(async () => {
  await buildConsole()
  chunks = JSON.parse(readFileSync(join(folder, '.vite/manifest.json'), 'utf8')) as typeof chunks
}, 120_000)

// A chunk, and what it imports at once.
function scripts(name: string, known: string[] = []): string[] {
  if (known.includes(name)) return known
  const all = [...known, name]
  return (chunks[name]!.imports ?? []).reduce((found, next) => scripts(next, found), all)
}

const sizeOf = (names: string[]) =>
  names.reduce((size, name) => size + statSync(join(folder, `${chunks[name]!.file}.br`)).size, 0)
const shell = () => scripts('index.html')
const views = () =>
  Object.keys(chunks).filter((name) => chunks[name]!.src && name !== 'index.html' && name.endsWith('.tsx'))

test('the first view takes at most 90 KB of script in four requests, whichever it is', () => {
  expect(views().length).toBeGreaterThan(2)
  for (const view of views()) {
    const files = scripts(view, shell())
    expect(files.length, `the requests of ${view}`).toBeLessThanOrEqual(4)
    expect(sizeOf(files), `the size of ${view} as the first one`).toBeLessThanOrEqual(90 * kilobyte)
  }
})

test('each further view takes at most 25 KB', () => {
  const first = shell()
  for (const view of views()) {
    const more = scripts(view, first).slice(first.length)
    expect(sizeOf(more), `the size of ${view}`).toBeLessThanOrEqual(25 * kilobyte)
  }
})

test('the page knows the file of each view, and loads that of the first one beside the frame', () => {
  const html = readFileSync(join(folder, 'index.html'), 'utf8')
  const files = JSON.parse(/const files = (\[.*\])$/m.exec(html)![1]!) as [string, string][]
  const source = readFileSync(join(folder, '../shell/views.ts'), 'utf8')
  expect(files.length).toBe(source.match(/import\('\.\.\//g)!.length)
  const found = (path: string) => files.find(([pattern]) => new RegExp(`^${pattern}$`).test(path))?.[1]?.split('.')[0]
  expect(
    Object.fromEntries(
      ['/o/a', '/o/a/people', '/o/a/people/new', '/o/a/people/1/access', '/instance/members', '/o/a/none'].map(
        (path) => [path, found(path)],
      ),
    ),
  ).toEqual({
    '/o/a': 'overview',
    '/o/a/people': 'people',
    '/o/a/people/new': 'add-person',
    '/o/a/people/1/access': 'person',
    '/instance/members': 'instance-members',
    '/o/a/none': undefined,
  })
})

test('every script and style is there in brotli and gzip', () => {
  const files = Object.values(chunks).flatMap(({ file, css = [] }) => [file, ...css])
  for (const file of files.filter((name) => /\.(js|css)$/.test(name)))
    for (const ending of ['.br', '.gz']) expect(existsSync(join(folder, file + ending)), file + ending).toBe(true)
})
