import { expect, test } from 'vitest'
import { itemsOf } from './items.ts'
import { parseSetup } from './read-file.ts'
import { sameValue } from './same-value.ts'
import { setupSchema } from './schema.ts'

const faultsOf = (text: string) => {
  try {
    itemsOf(parseSetup('setup.yaml', text))
    return []
  } catch (error) {
    return (error as Error).message.split('\n')
  }
}

test('each fault of a setup file has its line, the path of the field, and the reason', () => {
  const text = `organisations: []
organizations:
  - id: 123456789012345678
    name: [x]
    projects:
      - id: "a b"
        nmae: S
        hasProjectCheck: yes
        oidcApplications:
          - { id: web, name: X, authMethodType: BASIC, redirectUris: https://x }
  - name: ""
`
  expect(faultsOf(text).toSorted()).toEqual(
    [
      'setup.yaml:1: organisations: there is no such field',
      'setup.yaml:3: organizations[0].id: must be a text: put it into quotes',
      'setup.yaml:4: organizations[0].name: must be a text: put it into quotes',
      'setup.yaml:6: organizations[0].projects[0]: needs name',
      'setup.yaml:7: organizations[0].projects[0].nmae: there is no such field',
      'setup.yaml:6: organizations[0].projects[0].id: must be 1 to 200 of A-Z a-z 0-9 _ -, the first a letter or a digit',
      'setup.yaml:8: organizations[0].projects[0].hasProjectCheck: must be true or false',
      'setup.yaml:10: organizations[0].projects[0].oidcApplications[0].authMethodType: must be one of OIDC_AUTH_METHOD_TYPE_BASIC, OIDC_AUTH_METHOD_TYPE_POST, OIDC_AUTH_METHOD_TYPE_NONE, OIDC_AUTH_METHOD_TYPE_PRIVATE_KEY_JWT',
      'setup.yaml:10: organizations[0].projects[0].oidcApplications[0].redirectUris: must be a list',
      'setup.yaml:11: organizations[1]: needs id',
      'setup.yaml:11: organizations[1].name: must not be empty',
    ].toSorted(),
  )
})

test('what is no YAML, names one thing twice or grows by aliases is refused', () => {
  expect(faultsOf('a:\n\tb: 1\n')[0]).toBe('setup.yaml:2: Tabs are not allowed as indentation')
  const twice = 'organizations:\n  - { id: a, name: A }\n  - { id: a, name: B }\n'
  expect(faultsOf(twice)).toEqual([
    'setup.yaml:3: organizations[1]: organization a is in the file twice, first at setup.yaml:2: organizations[0]',
  ])
  const bomb = ['a: &a [x]', ...[...'bcdefgh'].map((name, i) => `${name}: &${name} [${`*${'abcdefg'[i]},`.repeat(9)}]`)]
  expect(faultsOf(bomb.join('\n'))[0]).toContain('has too many aliases')
  const many = Array.from({ length: 10_001 }, (_, index) => `  - { id: o${index}, name: O }`)
  expect(faultsOf(`organizations:\n${many.join('\n')}\n`)).toEqual([
    'setup.yaml:2: organizations: may have 10000 at most',
  ])
})

test('an empty file is one of nothing, and JSON is YAML', () => {
  expect(faultsOf('')).toEqual([])
  expect(faultsOf(JSON.stringify({ organizations: [{ id: 'a', name: 'A' }] }))).toEqual([])
})

test('a value that means the same is no change', () => {
  for (const [former, wanted] of [
    [
      ['b', 'a'],
      ['a', 'b'],
    ],
    [undefined, ''],
    [undefined, false],
    [undefined, []],
    ['3600s', '3600.0s'],
    [{ types: ['b', 'a'] }, { types: ['a', 'b'] }],
    [undefined, 'OIDC_APP_TYPE_WEB'],
  ])
    expect(sameValue(former, wanted), JSON.stringify([former, wanted])).toBe(true)
  for (const [former, wanted] of [
    [['a'], ['a', 'b']],
    [true, false],
    [undefined, 'x'],
    ['1s', '10s'],
    ['1.5s', '1s'],
  ])
    expect(sameValue(former, wanted), JSON.stringify([former, wanted])).toBe(false)
})

test('the schema in the docs is the one by which files are checked', async () => {
  const written = `${JSON.stringify(setupSchema(), null, 2)}\n`
  await expect(written).toMatchFileSnapshot('../../docs/setup.schema.json')
})
