import { readFileSync } from 'node:fs'
import { type ESTree, parseSync } from 'rolldown/utils'

type Node = ESTree.Node

const makers = ['describe', 'test', 'it', 'suite']
/** These give another maker of tests: their argument is no title. */
const prepares = ['each', 'for', 'skipIf', 'runIf', 'extend']

/**
 * The titles of the tests that run in a file, and of the suites that have some, as its source has them: `%s is refused`.
 * What a template fills in is left out. A test that waits for a condition (skipIf) runs: it does where nothing is missing.
 */
export function runningTests(file: URL): Set<string> {
  return titlesIn(readFileSync(file, 'utf8'))
}

export function titlesIn(source: string): Set<string> {
  const titles = new Set<string>()
  const { program, errors } = parseSync('a.test.ts', source)
  if (errors.length > 0) throw new Error(errors[0]!.message)
  collect(program, [], titles)
  return titles
}

function collect(node: Node, suites: string[], titles: Set<string>): void {
  const made = node.type === 'CallExpression' ? makes(node) : undefined
  if (made?.skipped) return
  const path = made ? [...suites, made.title] : suites
  if (made && made.by !== 'describe' && made.by !== 'suite') for (const title of path) titles.add(title)
  for (const child of Object.values(node).flat()) if (isNode(child)) collect(child, path, titles)
}

/** What a call makes: `describe.skip('…')`, `test.skipIf(…).each(…)('…')`. */
function makes({ callee, arguments: [first, second] }: ESTree.CallExpression) {
  const [by = '', ...modifiers] = chain(callee)
  const title = first && textOf(first)
  if (!makers.includes(by) || title === undefined) return undefined
  if (callee.type === 'MemberExpression' && prepares.includes(modifiers.at(-1)!)) return undefined
  return { by, title, skipped: [...modifiers, ...optionsOf(second)].some((word) => word === 'skip' || word === 'todo') }
}

/** `test.skipIf(…).each(…)` is test, skipIf, each. */
function chain(callee: Node): string[] {
  if (callee.type === 'Identifier') return [callee.name]
  if (callee.type === 'CallExpression') return chain(callee.callee)
  if (callee.type === 'TaggedTemplateExpression') return chain(callee.tag)
  if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return []
  const object = chain(callee.object)
  return object.length > 0 ? [...object, callee.property.name] : []
}

function textOf(node: Node): string | undefined {
  if (node.type === 'Literal' && typeof node.value === 'string') return node.value
  return node.type === 'TemplateLiteral' ? node.quasis.map(({ value }) => value.cooked).join('') : undefined
}

/** The names of the options that are not plainly off: `{ skip: true }`. */
function optionsOf(node: Node | undefined): string[] {
  if (node?.type !== 'ObjectExpression') return []
  return node.properties.flatMap((property) => {
    if (property.type !== 'Property' || property.key.type !== 'Identifier') return []
    const off = property.value.type === 'Literal' && property.value.value === false
    return off ? [] : [property.key.name]
  })
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string'
}
