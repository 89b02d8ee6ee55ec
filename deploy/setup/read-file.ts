import { readFileSync, statSync } from 'node:fs'
import { Ajv, type ErrorObject } from 'ajv'
import { isMap, LineCounter, type Node, parseDocument, type Document } from 'yaml'
import { setupSchema } from './schema.ts'

/** A setup file that fits the schema. */
export interface SetupFile {
  content: SetupContent
  /** The line of a value and its path: `setup.yaml:12: organizations[0].name`. */
  place(path: Path): string
}

export type SetupContent = Record<string, unknown>
export type Path = (string | number)[]

const mostBytes = 8 * 1024 * 1024
const mostFaults = 20

/** The file cannot be applied as it is. Each line names the file, the line and the field. */
export class SetupFaults extends Error {
  constructor(faults: string[]) {
    const more = faults.length - mostFaults
    super([...faults.slice(0, mostFaults), ...(more > 0 ? [`and ${more} more`] : [])].join('\n'))
  }
}

/** Reads a setup file, in YAML or JSON. Throws SetupFaults. */
export function readSetupFile(file: string): SetupFile {
  return parseSetup(file, readBounded(file))
}

function readBounded(file: string): string {
  try {
    const { size } = statSync(file)
    if (size > mostBytes) throw new SetupFaults([`${file}: has ${size} bytes, and may have ${mostBytes}`])
    return new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(file))
  } catch (error) {
    if (error instanceof SetupFaults) throw error
    const { code } = error as NodeJS.ErrnoException
    throw new SetupFaults([
      `${file}: ${code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not in UTF-8' : whyNot(code)}`,
    ])
  }
}

function whyNot(code: string | undefined): string {
  return code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code})`
}

export function parseSetup(file: string, source: string): SetupFile {
  const lines = new LineCounter()
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false })
  const at = (offset: number) => `${file}:${lines.linePos(offset).line}`
  const broken = [...document.errors, ...document.warnings].map(({ pos, message }) => `${at(pos[0])}: ${message}`)
  if (broken.length > 0) throw new SetupFaults(broken)
  const place = (path: Path, key?: string) => {
    const node = nodeAt(document, path, key)
    return `${node?.range ? at(node.range[0]) : file}: ${spell(key === undefined ? path : [...path, key])}`
  }
  const content = contentOf(document, file)
  const validate = (validator ??= new Ajv({ allErrors: true, strict: false, logger: false, verbose: true }).compile(
    setupSchema(),
  ))
  if (!validate(content)) throw new SetupFaults(faultsOf(validate.errors ?? [], place))
  return { content: content as SetupContent, place }
}

let validator: ReturnType<Ajv['compile']> | undefined

// Aliases stand for what they name. Only so many are followed that a small file cannot become a large one.
function contentOf(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 }) ?? {}
  } catch (error) {
    throw new SetupFaults([`${file}: has too many aliases (${(error as Error).message})`])
  }
}

// That of the key where it is one that should not be there; else the deepest one that there is.
function nodeAt(document: Document, path: Path, key?: string): Node | undefined {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as Node | undefined
    if (!node?.range) continue
    if (key === undefined || length < path.length || !isMap(node)) return node
    return (node.items.find((pair) => (pair.key as { value?: unknown }).value === key)?.key as Node | null) ?? node
  }
  const { contents } = document
  if (key === undefined || !isMap(contents)) return contents ?? undefined
  return (
    (contents.items.find((pair) => (pair.key as { value?: unknown }).value === key)?.key as Node | null) ?? contents
  )
}

function faultsOf(errors: ErrorObject[], place: (path: Path, key?: string) => string): string[] {
  return [
    ...new Set(
      errors.map((error) => {
        const path = error.instancePath
          .split('/')
          .slice(1)
          .map((part) => (/^\d+$/.test(part) ? Number(part) : part.replaceAll('~1', '/').replaceAll('~0', '~')))
        const { additionalProperty, missingProperty } = error.params as Record<string, string | undefined>
        if (additionalProperty !== undefined) return `${place(path, additionalProperty)}: there is no such field`
        if (missingProperty !== undefined) return `${place(path)}: needs ${missingProperty}`
        return `${place(path)}: ${sayings[error.keyword]?.(error) ?? error.message}`
      }),
    ),
  ]
}

const types: Record<string, string> = {
  string: 'a text: put it into quotes',
  array: 'a list',
  object: 'fields with their values',
  boolean: 'true or false',
  integer: 'a whole number',
}

const sayings: Record<string, (error: ErrorObject) => string> = {
  type: ({ params }) => `must be ${types[params['type'] as string] ?? params['type']}`,
  enum: ({ params }) => `must be one of ${(params['allowedValues'] as string[]).join(', ')}`,
  const: ({ params }) => `must be ${String(params['allowedValue'])}, or not be here`,
  maxItems: ({ params }) => `may have ${params['limit']} at most`,
  // Of ids.
  pattern: ({ params, instancePath }) =>
    instancePath.endsWith('/id') ? idRule : `must match ${String(params['pattern'])}`,
  minItems: () => 'must not be empty',
  maxLength: ({ params }) => `may have ${params['limit']} characters at most`,
  minLength: ({ params }) => (params['limit'] === 1 ? 'must not be empty' : `needs ${params['limit']} characters`),
}

const idRule = 'must be 1 to 200 of A-Z a-z 0-9 _ -, the first a letter or a digit'

/** `organizations[0].name` */
function spell(path: Path): string {
  const text = path.map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`)).join('')
  return text === '' ? 'the file' : text.replace(/^\./, '')
}
