import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { registry } from '#lib/registry'
import { isRenewing } from '#test/support/expect-part'

const folder = import.meta.dirname
const pages = globSync(['sign-in.md', 'sign-in/*.md'], { cwd: folder })

// A line that is a link to a file of examples/, and the code below it.
const block = /^\[\S+\]\(([./]*examples\/[^)]+)\):\n\n(```\w*)\n(.*?)^```$/gms

test.each(pages)('the code of docs/%s is that of the files that it names, which tests run', (page) => {
  const file = join(folder, page)
  const text = readFileSync(file, 'utf8')
  const made = text.replaceAll(block, (_, path: string, fence: string) => {
    const code = readFileSync(join(file, '..', path), 'utf8').trimEnd()
    return `[${path.replaceAll('../', '')}](${path}):\n\n${fence}\n${code}\n\`\`\``
  })
  if (isRenewing()) writeFileSync(file, made)
  else expect(text, 'With -u, this test writes the code again.').toBe(made)
})

test('the reference has each field of an application, and no other', () => {
  const text = readFileSync(join(folder, 'sign-in/reference.md'), 'utf8')
  const [, part = ''] = /^## The fields of an application\n(.*?)^## /ms.exec(text) ?? []
  const rows = [...part.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, names]) => names!.match(/\w+/g)!)
  const { fields } = registry.getMessage('roster.grants.v1.AddOIDCApplicationRequest')!
  const names = fields.map(({ jsonName }) => jsonName)
  expect(rows.toSorted()).toEqual(names.filter((name) => name !== 'projectId').toSorted())
})
