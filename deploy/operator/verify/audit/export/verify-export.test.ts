import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readKeys } from '../kept.ts'
import { allKeys, changedLine, found, lines, of, replaced } from './testing/true-export.ts'
import { verifyExport } from './verify-export.ts'

test('a true export has no finding, whatever ends of lines its names have', async () => {
  expect(await found(lines)).toEqual([])
  expect(await found(lines.filter(({ kind }) => kind !== 'event').map((line) => (line['kind'] === 'end' ? { ...line, events: 0 } : line)))).toEqual([]) // prettier-ignore
})

test('a line that two readers read differently', async () => {
  const [event, page] = [of('event')[0]!, of('page')[0]!]
  const text = JSON.stringify(event)
  const double = text.replace('"creator":', '"creator":"framed","creator":')
  expect(double).not.toBe(text)
  const strange = expect.stringMatching(/^line \d+: no export has such a line$/)
  expect(await found(replaced(event, double))).toContainEqual(strange)
  expect(await found(replaced(event, text.replace(':', ': ')))).toContainEqual(strange)
  expect(await found(replaced(event, text, ''))).toEqual([strange])
  const proofRow = event['proof'].row.replace('"creator":', '"creator":"framed","creator":')
  expect(await found(changedLine(event, { proof: { ...event['proof'], row: proofRow } }))).toEqual([
    'event users-1: its proof is none of a row',
  ])
  const header = page['header'].replace('"page":1', '"page":9,"page":1')
  expect(await found(changedLine(page, { header }))).toContainEqual('a page: its header is none of this service')
})

test('another organization than that of the first line', async () => {
  const [first] = lines
  expect((await found(changedLine(first!, { organization: 'other' }))).length).toBe(4)
  const object = { kind: 'object', service: 'users', type: 'user', id: 'a', organizationId: 'other', sequence: 1, createdAt: '', changedAt: '', state: {} } // prettier-ignore
  const some = [...lines.slice(0, -1), object, { kind: 'end', events: 4, objects: 1 }]
  expect(await found(some)).toEqual([`line ${some.length - 1}: it is of another organization than the export`])
})

test('lines that are missing, that follow the end, or that begin twice', async () => {
  const notWhole = 'the export: it is not whole: lines are missing'
  expect(await found(lines.slice(0, -1))).toEqual([notWhole])
  expect(await found([...lines.slice(0, -1), { kind: 'end', events: 4, objects: 1 }])).toEqual([notWhole])
  expect(await found(lines.slice(1))).toContainEqual('line 1: it does not stand in its place')
  expect(await found([...lines.slice(0, 3), lines[0]!, ...lines.slice(3)])).toEqual(['line 4: it does not stand in its place']) // prettier-ignore
  expect(await found([...lines, of('event')[0]!])).toContainEqual(`line ${lines.length + 1}: it stands behind the end`)
  expect(await found([...lines, lines.at(-1)!])).toEqual([`line ${lines.length + 1}: it stands behind the end`])
  expect(await found([])).toEqual([notWhole])
})

test('a file that is no text, or that is not there, is refused', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'roster-export-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'bytes')
  await writeFile(file, Buffer.from([0xff, 0xfe, 0x0a]))
  const keyFile = join(folder, 'keys')
  await writeFile(keyFile, allKeys())
  const output = { line() {}, progress() {} } as never
  for (const name of [file, join(folder, 'none')])
    await expect(verifyExport({ output }, name, readKeys(keyFile), async () => {})).rejects.toThrow(name)
})
