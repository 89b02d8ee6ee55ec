import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DescEnum, DescMessage } from '@bufbuild/protobuf'
import { type Method, offered } from '#lib/rpc/methods'
import { enumType, messageType, nameOf, neighbours } from './json-types.ts'
import { rulesOf } from './rules.ts'

/**
 * Writes what the console needs of the contract: `api.ts`, the requests and answers of every operation as their JSON
 * has them, and `rules/<request>.json`, the rules of each write's fields. Both are types and data: the browser loads no
 * code that knows protobuf.
 */
function generate(folder: string): void {
  const called = offered.filter(({ oauth }) => oauth === undefined)
  mkdirSync(join(folder, 'rules'), { recursive: true })
  writeFileSync(join(folder, 'api.ts'), apiOf(called))
  for (const { reads, desc } of called)
    if (!reads)
      writeFileSync(join(folder, 'rules', `${desc.input.typeName}.json`), `${JSON.stringify(rulesOf(desc.input))}\n`)
}

function apiOf(called: Method[]): string {
  const messages = new Set<DescMessage>()
  const enums = new Set<DescEnum>()
  const collect = (message: DescMessage): void => {
    if (messages.has(message)) return
    messages.add(message)
    const { messages: more, enums: values } = neighbours(message)
    more.forEach(collect)
    values.forEach((value) => enums.add(value))
  }
  for (const { desc } of called) [desc.input, desc.output].forEach(collect)
  const entries = called.map(({ desc, subject, access, reads, streams }) => {
    const key = `${subject.slice(0, subject.lastIndexOf('.'))}/${desc.name}`
    const facts = [`reads: ${reads}`, `streams: ${streams}`, `permission: '${access.permission}'`].join('; ')
    return `  '${key}': { request: ${nameOf(desc.input)}; response: ${nameOf(desc.output)}; ${facts} }`
  })
  return [
    '// Written by console/build/generate.ts from proto/.',
    ...[...enums].map(enumType),
    ...[...messages].map(messageType),
    `export interface Methods {\n${entries.join('\n')}\n}`,
    '',
  ].join('\n\n')
}

generate(join(import.meta.dirname, '../../gen/console'))
