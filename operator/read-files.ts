import { createReadStream, readFileSync } from 'node:fs'
import { Refusal } from './refusal.ts'

/** The lines of a file, which may be larger than the memory. Only a line feed ends a line: names may have other ends. */
export async function* linesOf(file: string): AsyncGenerator<string> {
  let rest = ''
  try {
    for await (const text of createReadStream(file, 'utf8')) {
      const lines = (rest + String(text)).split('\n')
      rest = lines.pop()!
      yield* lines
    }
  } catch (error) {
    throw asRefusal(file, error)
  }
  if (rest !== '') yield rest
}

/** The text of a file. Throws a Refusal where it cannot be read. */
export function textOf(file: string): string {
  return orRefuse(file, () => readFileSync(file, 'utf8'))
}

/** Reads something of a file. Throws a Refusal with its name where that fails. */
export function orRefuse<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    throw asRefusal(file, error)
  }
}

function asRefusal(file: string, error: unknown): Refusal {
  return error instanceof Refusal ? error : new Refusal(`${file}: ${(error as Error).message}`)
}
