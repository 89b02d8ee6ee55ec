import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { aliasOf } from '#lib/rpc/aliases'
import { offered } from '#lib/rpc/methods'
import { things } from '#test/contract/things'

const page = readFileSync(new URL('api.md', import.meta.url), 'utf8')
const rows = (heading: string) => {
  const [section] = page.split(`\n## ${heading}\n`)[1]!.split('\n## ')
  const cells = [...section!.matchAll(/^\| (.*) \|$/gm)].map(([, row]) => row!.split('|').map((cell) => cell.trim()))
  return cells.slice(1)
}
const spell = (name: string) => name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())

test('the operations of docs/api.md have the paths that it gives them', () => {
  const inJson = (template: string) => template.replaceAll(/\{.*?\}/g, spell)
  const paths = new Map(offered.map(({ desc, http }) => [desc.name, http && `${http.verb} ${inJson(http.template)}`]))
  const calls = rows('Which call for what')
  expect(calls.length).toBeGreaterThan(30)
  for (const [, operations, given] of calls) {
    const names = operations!.split(', ')
    expect(given!.split(', ')).toEqual(names.map((name) => `\`${paths.get(name)}\``))
  }
})

test('docs/api.md names each id, and the older names that stand beside it', () => {
  const fields = offered.flatMap(({ desc }) => [desc.input, desc.output]).flatMap(({ fields }) => fields)
  const within = fields.flatMap((field) => [field, ...(field.message?.fields ?? [])])
  const older = (id: string) => {
    const aliases = within.filter(({ jsonName, fieldKind }) => jsonName === id && fieldKind === 'scalar')
    return new Set(aliases.flatMap((field) => aliasOf(field)?.map(({ jsonName }) => jsonName) ?? []))
  }
  const ids = Object.keys(things).map(spell)
  const listed = rows('Ids').map(([, id, former = '']) => [id!.replaceAll('`', ''), former] as const)
  expect(listed.map(([id]) => id)).toEqual(ids)
  for (const [id, former] of listed)
    expect([id, new Set([...former.matchAll(/`(\w+)`/g)].map(([, name]) => name))]).toEqual([id, older(id)])
})
