import { expect, test } from 'vitest'
import { titlesIn } from './running-tests.ts'

test.each([
  [`test('one', () => {})`, ['one']],
  [`it.concurrent("two", { timeout: 1, skip: false }, () => {})`, ['two']],
  [`describe('suite', () => { test('one', () => {}) })`, ['suite', 'one']],
  [
    `describe.each(over('grpc'))('over %s', () => { each((a) => test(\`with \${a}\`, () => {})) })`,
    ['over %s', 'with '],
  ],
  [`test.each(['of the rows'])('%j is refused', () => {})`, ['%j is refused']],
  ['test.each`a|b`("$a", () => {})', ['$a']],
  [`test.skipIf(missing).each(rows)('where %s is installed', () => {})`, ['where %s is installed']],
])('the titles of the tests of %s', (source, titles) => {
  expect([...titlesIn(source)].toSorted()).toEqual(titles.toSorted())
})

test.each([
  `// test('one', () => {})`,
  `/* test('one', () => {}) */`,
  `const text = "test('one')"`,
  `const one = 'one'; expect('one').toBe(\`one\`)`,
  `/one/.test('one')`,
  `test.skip('one', () => {})`,
  `test.todo('one')`,
  `test('one', { skip: true }, () => {})`,
  `test.skip.each([1])('one', () => {})`,
  `describe.skip('one', () => { test('one', () => {}) })`,
  `describe('outside', { todo: true }, () => { describe('one', () => { test('one', () => {}) }) })`,
  `describe('one', () => { test.skip('two', () => {}) })`,
])('no test runs in %s', (source) => {
  expect([...titlesIn(source)]).toEqual([])
})
