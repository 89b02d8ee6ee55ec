import { fromJson, type JsonObject } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { registry } from '#lib/registry'
import { offered } from '#lib/rpc/methods'
import { validate } from '#lib/rpc/validate'
import { faultsOf } from '../form/rules.ts'
import { rulesOf } from './rules.ts'

const texts = [
  '',
  'a',
  'ada@example.com',
  'a b',
  'en',
  'de-CH',
  'x!',
  'e\u200ef',
  ' a',
  '😀'.repeat(150),
  'x'.repeat(201),
]

// A request with one text, at the path.
function nest(path: string, text: string): JsonObject {
  const [first, ...rest] = path.split('.')
  return { [first!]: rest.length > 0 ? nest(rest.join('.'), text) : text }
}

test('every form says of a text what the API says of it, in the same words', () => {
  let compared = 0
  for (const { desc, reads, oauth } of offered) {
    if (reads || oauth) continue
    const rules = rulesOf(desc.input)
    for (const [path, own] of Object.entries(rules)) {
      if (own.some(({ rule }) => rule === 'range')) continue
      for (const text of texts) {
        const request = read(desc.input, nest(path, text))
        if (!request) break
        const said = validate(desc.input, request).filter(({ field }) => field === path)
        const known = said.map(({ description }) => description).filter((says) => !onlyThere.test(says))
        expect(faultsOf(own, text).toSorted(), `${desc.input.typeName} ${path} ${JSON.stringify(text)}`).toEqual(
          known.toSorted(),
        )
        compared += 1
      }
    }
  }
  expect(compared).toBeGreaterThan(500)
})

// Rules that a form has no use for: a choice of values is a list to choose from.
const onlyThere =
  /^(must be in list|must not be in list|value is required|must be a valid URI|value is empty, which is not a valid URI)/

// A path of a list, or of another type than text, is no field of a form.
function read(desc: Parameters<typeof validate>[0], json: JsonObject) {
  try {
    return fromJson(desc, json, { registry })
  } catch {
    return undefined
  }
}
