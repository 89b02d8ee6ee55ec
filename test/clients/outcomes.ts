import { expect } from 'vitest'
import { documentPart } from '../support/document-part.ts'
import { isRenewing } from '../support/expect-part.ts'
import { type Road } from './roads.ts'

/** A row of the table in docs/clients.md. */
export interface Row {
  /** For example `Go, connect-go`. */
  client: string
  /** For example `gRPC`, `JSON by OpenAPI`, `OAuth`. */
  speaks: string
}

const roadNames: Road['name'][] = ['plain', 'TLS', 'behind nginx']

/**
 * Holds what a test saw of a client against its row in docs/clients.md. `saw` is a few words, such as `five operations,
 * search, error`. With `-u`, it is written there instead.
 */
export function expectOutcome({ client, speaks }: Row, road: Road['name'], saw: string): void {
  const part = documentPart('clients.md', 'table')
  const [head, line, ...rows] = part.text.split('\n')
  const cells = rows.map((row) => row.slice(2, -2).split(' | '))
  const known = cells.find((row) => row[0] === client && row[1] === speaks)
  const column = 2 + roadNames.indexOf(road)
  if (!isRenewing()) return expect(known?.[column]).toBe(saw)
  const row = known ?? [client, speaks, ...roadNames.map(() => '')]
  if (!known) cells.push(row)
  row[column] = saw
  const sorted = cells.map((each) => `| ${each.join(' | ')} |`).toSorted()
  part.replace([head, line, ...sorted].join('\n'))
}
