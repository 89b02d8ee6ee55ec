import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { codes, type CodeName } from '#lib/errors'
import { type Method, offered } from '#lib/rpc/methods'
import { commentOf } from '../../services/gateway/openapi/comments.ts'

const root = join(import.meta.dirname, '../..')
const sources = globSync(['lib/**/*.ts', 'services/**/*.ts', 'compat/**/*.ts'], { cwd: root })
  .filter((file) => !/\.test\.ts$|(?<!\/operations)\/test-[^/]+$/.test(file))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }))

// docs/contract.md, "Errors".
const statuses: Partial<Record<CodeName, number>> = {
  CANCELLED: 499,
  UNKNOWN: 500,
  INVALID_ARGUMENT: 400,
  DEADLINE_EXCEEDED: 504,
  NOT_FOUND: 404,
  ALREADY_EXISTS: 409,
  PERMISSION_DENIED: 403,
  RESOURCE_EXHAUSTED: 429,
  FAILED_PRECONDITION: 400,
  ABORTED: 409,
  OUT_OF_RANGE: 400,
  UNIMPLEMENTED: 501,
  INTERNAL: 500,
  UNAVAILABLE: 503,
  DATA_LOSS: 500,
  UNAUTHENTICATED: 401,
}
const ownStatuses = new Map(
  [...read('services/gateway/listen/http-status.ts').matchAll(/\['([A-Z_]+)', (\d{3})\]/g)].map(
    ([, reason, status]) => [reason!, Number(status)],
  ),
)

/** The ways to write a reason in the sources, each with its code. */
const spellings: [RegExp, CodeName | undefined][] = [
  [/new RosterError\(\s*'([A-Z_]+)',\s*'([A-Z_]+)'/g, undefined],
  [/\bunavailable\(\s*'([A-Z_]+)'/g, 'UNAVAILABLE'],
  [/\bthrottle\([^;]*?'([A-Z_]+)'\)/g, 'RESOURCE_EXHAUSTED'],
  [/\binvalid\(\[[^;]*?\], '([A-Z_]+)'\)/g, 'INVALID_ARGUMENT'],
  [/\breason = '([A-Z_]+)'/g, 'INVALID_ARGUMENT'],
]

const inCode = new Set(
  sources.flatMap(({ text }) =>
    spellings.flatMap(([spelling, code]) =>
      [...text.matchAll(spelling)].map(([, first, second]) =>
        code === undefined ? row(second!, first as CodeName) : row(first!, code),
      ),
    ),
  ),
)

function row(reason: string, code: CodeName): string {
  return `| \`${reason}\` | ${code} (${codes[code]}) | ${ownStatuses.get(reason) ?? statuses[code]} |`
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

const lines = read('docs/errors.md')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
const documented = lines.map((line) => /^(\| `.+?` \| .+? \| \d+ \|) \S.*\. ?\|$/.exec(line)?.[1] ?? line)

test('the catalogue has each error of the code and no other', () => {
  expect([...documented].sort()).toEqual([...inCode].sort())
})

test('the catalogue lists each reason once, in order, and says when it occurs', () => {
  const sortable = (line: string) =>
    line.replace(/^\| `(\w+)` \| \w+ \((\d+)\).*/, (_, reason, code) => `${reason} ${code.padStart(2, '0')}`)
  expect(lines.map(sortable)).toEqual([...new Set(lines.map(sortable))].sort())
  for (const line of lines) expect(line).toMatch(/\| [A-Z].+\. \|$/)
})

describe('a row that names operations names those whose comment in proto/ names the reason:', () => {
  const reasons = new Set(lines.map((line) => /`(\w+)`/.exec(line)![1]!))
  const whenOf = (reason: string) => lines.filter((line) => line.startsWith(`| \`${reason}\``)).join(' ')
  // The name of a service stands for all its operations.
  const namedIn = (text: string) =>
    offered.filter(({ desc }) => new RegExp(`\\b(${desc.name}|${desc.parent.name})\\b`).test(text))
  const specific = [...reasons].filter((reason) => namedIn(whenOf(reason)).length > 0)
  const namesOf = (found: Method[]) => found.map(({ desc }) => desc.name).toSorted()

  test.each(specific)('%s', (reason) => {
    const declared = offered.filter((method) => commentsOf(method).match(/\w+/g)?.includes(reason))
    expect(namesOf(namedIn(whenOf(reason))), `the row ${reason} of docs/errors.md`).toEqual(namesOf(declared))
  })
})

// The comment of the method, and that of its service, which holds for all its methods.
function commentsOf({ desc }: Method): string {
  return `${commentOf(desc.parent)} ${commentOf(desc)}`
}

describe('no error escapes the catalogue:', () => {
  test('this test knows every place that takes the reason of an error from a variable', () => {
    const indirect = sources.flatMap(({ file, text }) => {
      const all = text.match(/new RosterError\(/g)?.length ?? 0
      const plain = text.match(/new RosterError\(\s*'[A-Z_]+',\s*'[A-Z_]+'/g)?.length ?? 0
      return all > plain ? [file] : []
    })
    expect(indirect.sort()).toEqual([
      'lib/errors.ts',
      'lib/rpc/call.ts',
      'lib/status.ts',
      'services/users/directory/rate-limits/throttle.ts',
    ])
  })

  test('every reason has the same form', () => {
    for (const line of inCode) expect(line).toMatch(/^\| `[A-Z]+(_[A-Z]+)*` \|/)
  })
})
