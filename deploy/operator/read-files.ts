import { closeSync, openSync, readSync } from 'node:fs'
import { Refusal } from './refusal.ts'

const portion = 64 * 1024

/**
 * The lines of a file, which is read a portion at a time. A line of more than `longest` characters is undefined, and takes
 * no memory. Only a line feed ends a line: JSON leaves other ends of lines as they are, and a name may have one. Throws a
 * Refusal where the file cannot be read, or is no UTF-8.
 */
export function* linesOf(file: string, longest: number): Generator<string | undefined> {
  let rest: string | undefined = ''
  const longer = (text: string) => {
    rest = rest !== undefined && rest.length + text.length <= longest ? rest + text : undefined
    return rest
  }
  for (const text of textOf(file)) {
    let from = 0
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
      yield longer(text.slice(from, at))
      rest = ''
      from = at + 1
    }
    longer(text.slice(from))
  }
  if (rest !== '') yield rest
}

/** A whole file of at most so many characters. Throws a Refusal where it is larger, cannot be read, or is no UTF-8. */
export function readSmall(file: string, most: number): string {
  let all = ''
  for (const text of textOf(file)) {
    all += text
    if (all.length > most) throw new Refusal(`${file}: it is larger than any such file.`)
  }
  return all
}

function* textOf(file: string): Generator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const bytes = Buffer.alloc(portion)
  const opened = orRefuse(file, () => openSync(file, 'r'))
  try {
    for (let read = -1; read !== 0;) {
      read = orRefuse(file, () => readSync(opened, bytes))
      yield orRefuse(file, () => decoder.decode(bytes.subarray(0, read), { stream: read > 0 }))
    }
  } finally {
    closeSync(opened)
  }
}

function orRefuse<T>(file: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw new Refusal(`${file}: ${(error as Error).message}`)
  }
}
