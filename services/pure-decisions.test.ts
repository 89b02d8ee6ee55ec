import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

// A decision may run again when another change was faster. Then it must come to the same ids and times.
const impure =
  /\b(uuid|idOfDigits|randomUUID|randomBytes|newToken|Math\.random|Date\.now|performance\.now)\s*\(|new Date\(\s*\)/

const files = globSync('{users,grants,idp,notifier}/**/*.ts', { cwd: import.meta.dirname })
  .filter((file) => !/\.test\.ts$|test-|testing\//.test(file))
  .map((file) => ({ file, text: readFileSync(`${import.meta.dirname}/${file}`, 'utf8') }))

const decisions = files.flatMap(({ file, text }) => decisionsOf(text).map((decision) => ({ file, decision })))

test('each service that writes has decisions, and they are found', () => {
  expect(decisions.length).toBeGreaterThan(60)
})

test('no decision makes an id or asks for the time', () => {
  expect(decisions.filter(({ decision }) => impure.test(decision))).toEqual([])
})

test('nor does the code that decisions share: the vocabulary and the rules of codes', () => {
  const shared = files.filter(({ file }) =>
    /\/vocabulary(\/|\.ts)|^users\/\w+\/events\/|^users\/directory\/email\//.test(file),
  )
  expect(shared.length).toBeGreaterThan(10)
  expect(shared.filter(({ text }) => impure.test(text)).map(({ file }) => file)).toEqual([])
})

/** The text of each function or method of the name `decide`. */
function decisionsOf(text: string): string[] {
  const plain = text.replaceAll(/<[\w\s,[\]|'.]+>/g, '').replaceAll(/<[\w\s,[\]|'.]+>/g, '')
  return [...plain.matchAll(/\bdecide(?=\(|: \()/g)].map(({ index }) => {
    let depth = 0
    for (let at = index; at < plain.length; at++) {
      const character = plain[at]!
      if ('([{'.includes(character)) depth++
      if (')]}'.includes(character)) depth--
      if (depth < 0 || (depth === 0 && (character === '}' || character === ','))) return plain.slice(index, at)
    }
    return plain.slice(index)
  })
}
