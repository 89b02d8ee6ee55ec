import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** An account of nats.conf. */
export interface Account {
  users: string[]
  exports: Shared[]
  imports: (Shared & { to: string })[]
}

/** A subject that passes between two accounts, once for each account that it is exported to. */
export interface Shared {
  kind: 'service' | 'stream'
  subject: string
  /** The other account: the one that it is exported to, or imported from. */
  account: string
}

/** The accounts of deploy/nats/nats.conf, the examples left out. */
export function readAccounts(): Record<string, Account> {
  const text = readFileSync(join(import.meta.dirname, 'nats.conf'), 'utf8')
  const { accounts } = parse(text) as unknown as { accounts: Record<string, Written> }
  return Object.fromEntries(
    Object.entries(accounts).map(([name, { users, exports = [], imports = [] }]) => [
      name,
      {
        users: users.map(({ user }) => user),
        exports: exports.flatMap(({ service, stream, accounts }) =>
          accounts.map((account) => ({ ...named(service, stream), account })),
        ),
        imports: imports.map(({ service, stream, to }) => {
          const { kind, subject: from } = named(service, stream)
          return { kind, ...from, to: to ?? from.subject }
        }),
      },
    ]),
  )
}

interface Written {
  users: { user: string }[]
  exports?: { service?: string; stream?: string; accounts: string[] }[]
  imports?: { service?: From; stream?: From; to?: string }[]
}
type From = { account: string; subject: string }

function named<T>(service: T | undefined, stream: T | undefined): { kind: Shared['kind']; subject: T } {
  return service === undefined ? { kind: 'stream', subject: stream! } : { kind: 'service', subject: service }
}

type Value = string | Value[] | { [key: string]: Value }

// As much of the syntax as the file uses: maps, lists, strings, words and comments.
function parse(text: string): Value {
  const tokens = text.match(/#.*|"[^"]*"|[{}[\]]|[^\s{}[\],:="#]+/g)!.filter((token) => !token.startsWith('#'))
  const value = (): Value => {
    const token = tokens.shift()!
    if (token === '{') return map()
    if (token !== '[') return token.replaceAll('"', '')
    const list: Value[] = []
    while (tokens[0] !== ']') list.push(value())
    tokens.shift()
    return list
  }
  const map = (): Value => {
    const entries: { [key: string]: Value } = {}
    for (let key = tokens.shift(); key !== undefined && key !== '}'; key = tokens.shift()) entries[key] = value()
    return entries
  }
  return map()
}
